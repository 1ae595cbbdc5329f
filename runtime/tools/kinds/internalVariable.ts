import type { ErrorDetail } from '../../../core/errors.ts';
import { below, faultAt } from '../../../core/faults.ts';
import type { CheckedForm } from '../../../core/namedSchemas.ts';
import { fitInputs } from '../configuration/fitInputs.ts';
import {
  type InternalVariableConfiguration,
  readVariable,
  writeVariable,
} from '../internalVariable/internalVariable.ts';
import type { JsonSchema, ToolOutcome } from '../tool.ts';
import type { ToolFunction, ToolKind, ToolRun } from './kind.ts';

/** What every run accepts. `writeVariable` checks the value: its messages say more than those of a schema. */
const RUN_INPUTS: JsonSchema = { type: 'object', properties: { value: true }, additionalProperties: false };

function faultsOf({ faults, sound }: CheckedForm<InternalVariableConfiguration>, path: string): ErrorDetail[] {
  const { type, defaultValue = null } = sound;
  if (defaultValue === null || type === undefined) return faults;
  const actual = Array.isArray(defaultValue) ? 'array' : typeof defaultValue;
  if (actual === type) return faults;
  return [...faults, faultAt(below(path, 'defaultValue'), `must be ${type}, or null`, 'type')];
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
  const inputs = await fitInputs(RUN_INPUTS, run.inputs, run);
  const variable = { id: run.tool.id, configuration };
  const value = Object.hasOwn(inputs, 'value')
    ? await writeVariable(context, variable, inputs.value)
    : await readVariable(context, variable);
  return { statusCode: null, responseData: { value }, errorMessage: null };
}

/** Reads and writes a value that the service stores for a conversation or for the whole workspace. */
export const internalVariable: ToolKind<InternalVariableConfiguration> = {
  secretPaths: [],
  origins: () => [],
  check: (form, path) => ({ faults: faultsOf(form, path) }),
  functions: ({ configuration }) => [variableFunction(configuration)],
  run: runVariable,
};
