import type { ErrorDetail } from '../../../core/errors.ts';
import { below, checkShape, faultAt } from '../configuration/faults.ts';
import { fitInputs } from '../configuration/inputSchema.ts';
import {
  type InternalVariableConfiguration,
  readVariable,
  writeVariable,
} from '../internalVariable/internalVariable.ts';
import type { JsonSchema, ToolOutcome } from '../tool.ts';
import type { ToolFunction, ToolKind, ToolRun } from './kind.ts';

/** Characters of JSON that a default may have. */
const MAX_DEFAULT_CHARS = 65_536;

const SHAPE = {
  type: 'object',
  required: ['name', 'type', 'scope'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 150 },
    type: { type: 'string', enum: ['string', 'number', 'boolean', 'object', 'array'] },
    defaultValue: true,
    scope: { type: 'string', enum: ['conversation', 'workspace'] },
    writable: { type: 'boolean' },
  },
};

/** What every run accepts. `writeVariable` checks the value: its messages say more than those of a schema. */
const RUN_INPUTS: JsonSchema = { type: 'object', properties: { value: true }, additionalProperties: false };

function faultsOf(configuration: Record<string, unknown>, path: string): ErrorDetail[] {
  const { faults, sound } = checkShape<InternalVariableConfiguration>(SHAPE, configuration, path);
  const { type, defaultValue = null } = sound;
  if (defaultValue === null) return faults;
  const here = below(path, 'defaultValue');
  if (JSON.stringify(defaultValue).length > MAX_DEFAULT_CHARS) {
    faults.push(faultAt(here, `must not have more than ${MAX_DEFAULT_CHARS} characters as JSON`, 'maxLength'));
  }
  const actual = Array.isArray(defaultValue) ? 'array' : typeof defaultValue;
  if (type !== undefined && actual !== type) faults.push(faultAt(here, `must be ${type}, or null`, 'type'));
  return faults;
}

/** No input reads the variable; `value` writes it. */
function variableFunction({ name, type, scope, writable }: InternalVariableConfiguration): ToolFunction {
  const kept = scope === 'conversation' ? 'in this conversation' : 'for all conversations';
  const writes = writable ? ', or writes it when a value is given' : '';
  const properties = writable ? { value: { type, description: 'New value; left out, the value is read.' } } : {};
  return {
    operationId: null,
    description: '',
    fallbackDescription: `Reads the variable “${name}” (${type}), which is kept ${kept}${writes}.`,
    inputSchema: { type: 'object', properties, additionalProperties: false },
  };
}

async function runVariable(run: ToolRun<InternalVariableConfiguration>): Promise<ToolOutcome> {
  const { context, configuration } = run;
  const inputs = fitInputs(RUN_INPUTS, run.inputs);
  const variable = { id: run.tool.id, configuration };
  const value = Object.hasOwn(inputs, 'value')
    ? await writeVariable(context, variable, inputs.value)
    : await readVariable(context, variable);
  return { statusCode: null, responseData: { value }, errorMessage: null };
}

/** Reads and writes a value that the service stores for a conversation or for the whole workspace. */
export const internalVariable: ToolKind<InternalVariableConfiguration> = {
  secretPaths: [],
  check: (configuration, path) => ({ faults: faultsOf(configuration, path) }),
  functions: ({ configuration }) => [variableFunction(configuration)],
  run: runVariable,
};
