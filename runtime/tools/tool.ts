import type { Kysely, Selectable } from 'kysely';
import type { DB, HttpTools } from '../../generated/db.ts';
import type { Runtime } from '../runtime.ts';

/** What a tool does technically. */
export type ToolType = Selectable<HttpTools>['tool_type'];

/** A tool as it is stored, as far as running it needs it. */
export type StoredTool = Pick<Selectable<HttpTools>, 'id' | 'tool_type' | 'configuration' | 'secrets' | 'operations'>;

/** Where a tool runs: for one workspace, and in one conversation unless it is a test. */
export interface ToolContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Pick<Runtime, 'secrets' | 'allowPrivateNetwork' | 'clock'>;
  conversationId?: string;
}

/** JSON Schema. */
export type JsonSchema = Record<string, unknown>;

/** Configuration of an HTTP_REQUEST. */
export interface HttpRequestConfiguration {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** Text, or any other JSON. */
  body?: unknown;
  inputSchema?: JsonSchema;
  timeoutSeconds?: number;
  secrets?: Record<string, string>;
}

/** Configuration of a DATABASE_QUERY. */
export interface DatabaseQueryConfiguration {
  connection: string;
  query: string;
  inputSchema?: JsonSchema;
  maxRows?: number;
  timeoutSeconds?: number;
}

/** Configuration of an INTERNAL_VARIABLE. */
export interface InternalVariableConfiguration {
  name: string;
  type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  defaultValue?: unknown;
  scope: 'conversation' | 'workspace';
  writable?: boolean;
}

/** Configuration of a CUSTOM_INTEGRATION. */
export interface CustomIntegrationConfiguration {
  /** The document, or its https address. */
  openapi: Record<string, unknown> | string;
  baseUrl?: string;
  operations: string[];
  auth?: { type?: 'none' | 'bearer' | 'header'; headerName?: string; secret?: string };
}

/** Seconds that a tool has when its configuration does not say. */
export const DEFAULT_TIMEOUT_SECONDS = 30;

/** What a tool came to: it failed when there is an `errorMessage`. */
export interface ToolOutcome {
  /** HTTP status of the answer; null when there was none. */
  statusCode: number | null;
  responseData: Record<string, unknown> | null;
  errorMessage: string | null;
}
