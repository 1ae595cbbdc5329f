import type { Kysely, Selectable } from 'kysely';
import type { DB, HttpTools } from '../../generated/db.ts';
import type { Runtime } from '../runtime.ts';

/** The kind of a tool: what it does technically. */
export type ToolType = Selectable<HttpTools>['tool_type'];

/** The stored columns that running a tool needs. */
export type RunnableTool = Pick<Selectable<HttpTools>, 'id' | 'tool_type' | 'configuration' | 'secrets' | 'operations'>;

/** Where a tool runs: for one workspace, and in one conversation unless it is a test. */
export interface ToolRunContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Pick<Runtime, 'secrets' | 'allowPrivateNetwork' | 'clock'>;
  conversationId?: string;
}

/** JSON Schema. */
export type JsonSchema = Record<string, unknown>;

/** Seconds that a run may take when the configuration does not say. */
export const DEFAULT_TIMEOUT_SECONDS = 30;

/** The outcome of a run: it failed when there is an `errorMessage`. */
export interface ToolOutcome {
  /** HTTP status of the response; null when there was none. */
  statusCode: number | null;
  responseData: Record<string, unknown> | null;
  errorMessage: string | null;
}
