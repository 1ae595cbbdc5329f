import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { EntryFields } from './edit/format.ts';
import type { ServerFields } from './entry.ts';

/** The options of `guildhall mcp install` that the server gets. */
export interface ServerOptions {
  tags?: string[];
  tools?: string[];
  readOnly?: boolean;
  mode?: 'all' | 'search';
  agent?: string;
  allowFolder?: string[];
  profile?: string | undefined;
  apiKeyFile?: string | undefined;
  baseUrl?: string | undefined;
}

/**
 * The MCP server's program beside this one: dist/guildhall-mcp.js in a package, whose pieces lie in a folder of dist, and clients/mcp/main.ts in
 * a checkout. Undefined when it is not there.
 */
export function serverProgram(folder: string = import.meta.dirname): string | undefined {
  const places = ['guildhall-mcp.js', '../guildhall-mcp.js', '../../mcp/main.ts'];
  return places.map((path) => join(folder, path)).find((path) => existsSync(path));
}

/**
 * What starts the MCP server on this machine: absolute paths, since a client starts it in a folder and with a PATH of its own. The server
 * finds the login by itself; `configFolder` says where, when that is not where it looks without a word from us.
 */
export function serverFields(
  program: string,
  options: ServerOptions,
  { cwd, configFolder }: { cwd: string; configFolder: string | undefined },
): ServerFields {
  const path = (given: string) => (isAbsolute(given) ? given : resolve(cwd, given));
  const args = [
    ...list('--tags', options.tags),
    ...list('--tools', options.tools),
    ...(options.readOnly ? ['--read-only'] : []),
    ...pair('--mode', options.mode),
    ...pair('--agent', options.agent),
    ...(options.allowFolder ?? []).flatMap((folder) => ['--allow-folder', path(folder)]),
    ...pair('--profile', options.profile),
    ...pair('--api-key-file', options.apiKeyFile && path(options.apiKeyFile)),
    ...pair('--base-url', options.baseUrl),
  ];
  const env: Record<string, string> = configFolder ? { GUILDHALL_CONFIG_DIR: configFolder } : {};
  return { command: process.execPath, args: [program, ...args], env };
}

function list(flag: string, values: string[] | undefined): string[] {
  return values && values.length > 0 ? [flag, values.join(',')] : [];
}

function pair(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}

/** Whether an entry starts an MCP server of ours, of this or of another place or version. */
export function startsOurs({ command, args }: EntryFields): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((each) => typeof each === 'string');
  return words.some((word) =>
    /(^|[\\/])guildhall-mcp(\.js|\.cmd|\.exe|@[\w.-]+)?$|[\\/]clients[\\/]mcp[\\/]main\.ts$/.test(word),
  );
}

/** The variables of an entry whose value is a key of ours. No entry needs one. */
export function keysIn({ env, args }: EntryFields): string[] {
  const variables = Object.entries((typeof env === 'object' && env) || {});
  const found = variables
    .filter(([, value]) => typeof value === 'string' && value.includes('gsk_'))
    .map(([name]) => name);
  const inArgs = Array.isArray(args) && args.some((arg) => typeof arg === 'string' && arg.includes('gsk_'));
  return inArgs ? [...found, 'its arguments'] : found;
}
