/** One item of the JSON list in external_mcps.tools: a tool as the last discovery found it. */
export interface StoredMcpTool {
  id: string;
  name: string;
  description: string | null;
  enabled: boolean;
  /** The run-time's own tool, which lists or reads the resources of the server. */
  resources?: 'list' | 'read';
}

/** The JSON of external_mcps.input_schemas: the JSON Schema of each tool's arguments by the tool's id. */
export type StoredMcpSchemas = Record<string, Record<string, unknown> | undefined>;

/** The JSON of external_mcps.tools_left_out: what the server listed at the last discovery and agents cannot use. */
export interface StoredToolsLeftOut {
  count: number;
  /** The first of them, in the order of the server's list. */
  tools: { name: string; reason: string }[];
}
