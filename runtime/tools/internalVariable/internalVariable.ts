import type { Kysely } from 'kysely';
import { isDeeperThan, isStorableJson } from '../../../core/json.ts';
import {
  findToolVariable,
  type ToolVariablePlace,
  upsertToolVariable,
} from '../../../db/queries/tools/toolVariables.ts';
import type { components } from '../../../generated/api.ts';
import type { DB } from '../../../generated/db.ts';
import { ToolFailure } from '../failure.ts';
import { MAX_DEPTH } from '../request/response.ts';

/** Where a variable is read or written. */
export interface VariableContext {
  db: Kysely<DB>;
  workspaceId: string;
  /** Absent in a test run, which belongs to no conversation. */
  conversationId?: string | undefined;
}

/** Configuration of an INTERNAL_VARIABLE. */
export type InternalVariableConfiguration = components['schemas']['InternalVariableConfiguration'];

/** An INTERNAL_VARIABLE tool, its configuration checked when it was stored. */
export interface VariableTool {
  id: string;
  configuration: InternalVariableConfiguration;
}

/** Bytes of JSON that a value may have. */
const MAX_BYTES = 64 * 1024;

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
  if (isDeeperThan(value, MAX_DEPTH)) throw refuse(`not be nested more than ${MAX_DEPTH} levels deep`);
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > MAX_BYTES) throw refuse(`not be larger than ${MAX_BYTES} bytes as JSON`);
  if (!isStorableJson(json)) throw refuse('not contain NUL or half of a surrogate pair');
}

/** Where the value is stored; undefined in a test run of a variable that has one value for each conversation. */
function placeOf({ workspaceId, conversationId }: VariableContext, tool: VariableTool): ToolVariablePlace | undefined {
  if (tool.configuration.scope === 'workspace') return { workspaceId, toolId: tool.id, conversationId: null };
  return conversationId === undefined ? undefined : { workspaceId, toolId: tool.id, conversationId };
}

/**
 * The value of a variable: the last one written in its scope, else its default, else null. A value that does not fit the
 * variable's type, because the type was changed, is ignored. A test run has no conversation, so it reads the default of a
 * variable of scope `conversation`.
 */
export async function readVariable(context: VariableContext, tool: VariableTool): Promise<unknown> {
  const { configuration } = tool;
  const place = placeOf(context, tool);
  const value = place && (await findToolVariable(context.db, place));
  return isOfType(value, configuration.type) ? value : (configuration.defaultValue ?? null);
}

/**
 * Writes a variable in its scope and returns the value. In a test run a value of scope `conversation` is checked and returned,
 * but not stored.
 * @throws {ToolFailure} the variable is not writable, or the value is not of its type, larger than 64 KiB as JSON, nested
 *   deeper than 100 levels, or has characters that cannot be stored; or the tool was deleted meanwhile
 */
export async function writeVariable(context: VariableContext, tool: VariableTool, value: unknown): Promise<unknown> {
  const { configuration } = tool;
  if (configuration.writable !== true) {
    throw new ToolFailure(`The variable ${configuration.name} can only be read: it is not writable.`);
  }
  checkValue(configuration, value);
  const place = placeOf(context, tool);
  if (place && !(await upsertToolVariable(context.db, place, value))) {
    throw notWritten(configuration.name, 'its tool does not exist any more');
  }
  return value;
}
