import type { ErrorDetail } from '../../../core/errors.ts';
import { below, checkShape, faultAt } from '../configuration/faults.ts';
import type { InternalVariableConfiguration, JsonSchema } from '../tool.ts';

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

/** What a run of an INTERNAL_VARIABLE takes: nothing to read it, `value` to write it. */
export function variableInputSchema({ type, writable }: InternalVariableConfiguration): JsonSchema {
  const properties = writable ? { value: { type, description: 'New value; left out, the value is read.' } } : {};
  return { type: 'object', properties, additionalProperties: false };
}

/** What is wrong with the configuration of an INTERNAL_VARIABLE. */
export function internalVariableFaults(configuration: Record<string, unknown>, path: string): ErrorDetail[] {
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
