import type { Kysely, Selectable } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { cutText, toStorable } from '../../core/text.ts';
import type { DB, NativeConnections } from '../../generated/db.ts';

/** The columns of a workspace's connection to a toolkit that its use needs. */
export type Connection = Pick<
  Selectable<NativeConnections>,
  'id' | 'workspace_id' | 'provider' | 'toolkit_slug' | 'external_id'
>;

/** A toolkit as people see it. */
export interface Toolkit {
  slug: string;
  name: string;
  /** An http(s) address; null when there is no picture. */
  iconUrl: string | null;
}

/** A connection as it is now. Only an `ACTIVE` one works; the other states are the registry's own words. */
export interface ConnectionState {
  status: string;
  toolkit: Toolkit;
}

/** A tool as it is described to a model. */
export interface ToolkitTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: Record<string, unknown>;
}

/** A call of a tool that a model asks for. */
export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** The result of a call, for the model. A tool that fails returns an error result and does not throw. */
export interface ToolResult {
  isError: boolean;
  text: string;
}

/** A passage of the workspace's knowledge. */
export interface KnowledgePassage {
  /** Name of the source that it is from. */
  source: string;
  text: string;
}

/** For whom a tool works, and what it may use. */
export interface ToolContext {
  /** Bound to the workspace. */
  db: Kysely<DB>;
  workspaceId: string;
  clock: Clock;
  /** Best first. */
  searchKnowledge(query: string, limit: number): Promise<KnowledgePassage[]>;
  /** Aborts the call, which then throws the signal's reason. */
  signal?: AbortSignal;
}

/** An event that an automation can wait for. */
export interface TriggerType {
  /** Unique over all toolkits. */
  slug: string;
  name: string;
  description: string | null;
  /** Slug of the toolkit. */
  toolkit: string;
  /** JSON Schema of the configuration that an automation gives. */
  configSchema: Record<string, unknown>;
}

/** Maximum length of a result that is passed to a model. */
const MAX_CHARACTERS = 100_000;

/** Returns a result of bounded length that can be stored: without NUL and lone surrogates. */
export function toolResult(text: string, isError = false): ToolResult {
  const note = text.length <= MAX_CHARACTERS ? '' : `\n[cut off: the result has ${text.length} characters]`;
  const kept = toStorable(cutText(text, MAX_CHARACTERS), '\uFFFD');
  return { isError, text: kept + note };
}
