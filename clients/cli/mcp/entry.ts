import { isDeepStrictEqual } from 'node:util';
import type { EntryFields } from './edit/format.ts';

/** What a client needs to start the MCP server over stdio. */
export interface ServerFields {
  command: string;
  args: string[];
  /** Only where the folder of the logins is; never a key. */
  env: Record<string, string>;
}

/** Variables that the installation sets or removes. The others of an entry are the user's. */
export const MANAGED_VARIABLES: readonly string[] = ['GUILDHALL_CONFIG_DIR'];

/**
 * The entry that the client should have: what starts the server, and from the present entry everything else that its user added to it
 * (time-outs, approvals, variables). An entry that starts no program, such as one of an address, is replaced whole.
 */
export function wantedEntry(current: EntryFields | undefined, server: ServerFields, withType: boolean): EntryFields {
  const local =
    typeof current?.command === 'string' && [undefined, 'stdio'].includes(current.type as string | undefined);
  const kept = local ? (current as EntryFields) : {};
  const type = withType && kept.type === undefined && !local ? { type: 'stdio' } : {};
  const { env: before, ...others } = kept;
  const variables = { ...withoutManaged(before), ...server.env };
  const env = Object.keys(variables).length > 0 || before !== undefined ? { env: variables } : {};
  return { ...type, ...others, command: server.command, args: server.args, ...env };
}

/** Whether the entry starts the same server already. */
export function startsSame(current: EntryFields, server: ServerFields, withType: boolean): boolean {
  return isDeepStrictEqual({ args: [], ...current }, wantedEntry({ args: [], ...current }, server, withType));
}

function withoutManaged(env: unknown): Record<string, unknown> {
  const entries = typeof env === 'object' && env !== null ? Object.entries(env) : [];
  return Object.fromEntries(entries.filter(([key]) => !MANAGED_VARIABLES.includes(key)));
}
