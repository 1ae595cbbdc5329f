import type { Kysely } from 'kysely';
import { findToolVariable, saveToolVariable, type ToolVariablePlace } from '../../../db/queries/tools/toolVariables.ts';
import type { DB } from '../../../generated/db.ts';
import { ToolFailure } from '../failure.ts';
import { isTooDeep, MAX_DEPTH } from '../request/response.ts';
import type { InternalVariableConfiguration } from '../tool.ts';

/** Where a variable is read or written. */
export interface VariableContext {
  db: Kysely<DB>;
  workspaceId: string;
  /** Absent in a test run, which belongs to no conversation. */
  conversationId?: string | undefined;
}

/** An INTERNAL_VARIABLE tool, its configuration checked when it was written. */
export interface VariableTool {
  id: string;
  configuration: unknown;
}

/** Largest value, in bytes of JSON. */
const MAX_BYTES = 64 * 1024;
/** NUL, and half of a surrogate pair: JSON can write them, PostgreSQL cannot store them. */
const NOT_STORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

function isOfType(value: unknown, type: InternalVariableConfiguration['type']): boolean {
  switch (type) {
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function notWritten(name: string, why: string): ToolFailure {
  return new ToolFailure(`The variable ${name} was not written: ${why}.`);
}

function checkValue({ name, type }: InternalVariableConfiguration, value: unknown): void {
  const refuse = (why: string) => notWritten(name, `the value must ${why}`);
  if (!isOfType(value, type)) throw refuse(`be of type ${type}`);
  if (isTooDeep(value)) throw refuse(`not be nested more than ${MAX_DEPTH} levels deep`);
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > MAX_BYTES) throw refuse(`not be larger than ${MAX_BYTES} bytes as JSON`);
  if (NOT_STORABLE.test(json)) throw refuse('not contain NUL or half of a surrogate pair');
}

/** Where the value is kept; undefined in a test run of a variable that has one value for each conversation. */
function placeOf(
  { workspaceId, conversationId }: VariableContext,
  tool: VariableTool,
  { scope }: InternalVariableConfiguration,
): ToolVariablePlace | undefined {
  if (scope === 'workspace') return { workspaceId, toolId: tool.id, conversationId: null };
  return conversationId === undefined ? undefined : { workspaceId, toolId: tool.id, conversationId };
}

/**
 * The value of a variable: what was written last in its scope, or else its default, or null. A value from before a change
 * of the variable's type does not count. A test run has no conversation: there a variable of scope `conversation` has its
 * default.
 */
export async function readVariable(context: VariableContext, tool: VariableTool): Promise<unknown> {
  const configuration = tool.configuration as InternalVariableConfiguration;
  const place = placeOf(context, tool, configuration);
  const value = place && (await findToolVariable(context.db, place));
  return isOfType(value, configuration.type) ? value : (configuration.defaultValue ?? null);
}

/**
 * Writes a variable in its scope and answers with the value. In a test run a value of scope `conversation` is checked,
 * answered and kept for nobody.
 * @throws {ToolFailure} the variable is not writable, or the value is not of its type, larger than 64 KiB as JSON, nested
 *   deeper than 100 levels, or has characters that cannot be stored; or the tool was deleted meanwhile
 */
export async function writeVariable(context: VariableContext, tool: VariableTool, value: unknown): Promise<unknown> {
  const configuration = tool.configuration as InternalVariableConfiguration;
  if (configuration.writable !== true) {
    throw new ToolFailure(`The variable ${configuration.name} can only be read: it is not writable.`);
  }
  checkValue(configuration, value);
  const place = placeOf(context, tool, configuration);
  if (place && !(await saveToolVariable(context.db, place, value))) {
    throw notWritten(configuration.name, 'its tool does not exist any more');
  }
  return value;
}
