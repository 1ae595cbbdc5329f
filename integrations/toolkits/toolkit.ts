import type { Kysely, Selectable } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { cutText, toStorable } from '../../core/text.ts';
import type { DB, NativeConnections } from '../../generated/db.ts';

/** A connection of a workspace to a toolkit, as far as using it needs. */
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

/** A tool as a model is told of it. */
export interface ToolkitTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: Record<string, unknown>;
}

/** What a model wants done. */
export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** What came of it, for the model to read. A tool that could not do what was asked is a result, not an exception. */
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

/** On whose behalf a tool works, and with what. */
export interface ToolContext {
  /** Bound to the workspace. */
  db: Kysely<DB>;
  workspaceId: string;
  clock: Clock;
  /** Best first. */
  searchKnowledge(query: string, limit: number): Promise<KnowledgePassage[]>;
  /** Ends the call; its reason is thrown. */
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

/** Largest result that a model gets to read, in characters. */
const MAX_CHARACTERS = 100_000;

/** A result of bounded size that can be stored: without NUL, and without halves of the characters that a cut went through. */
export function toolResult(text: string, isError = false): ToolResult {
  const note = text.length <= MAX_CHARACTERS ? '' : `\n[cut off: the result has ${text.length} characters]`;
  const kept = toStorable(cutText(text, MAX_CHARACTERS), '\uFFFD');
  return { isError, text: kept + note };
}
