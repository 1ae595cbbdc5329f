import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { Failure, usage } from '../failure.ts';
import type { ServerFields } from './entry.ts';
import { serverFields, serverProgram } from './server.ts';

/** The flags of `mcp install` that the server gets. */
export interface ServerFlags {
  tags?: string[];
  tools?: string[];
  readOnly?: boolean;
  mode?: string;
  agent?: string;
  allowFolder?: string[];
}

/** Adds the flags that say what the server offers. They are those of guildhall-mcp. */
export function withServerFlags(command: Command): Command {
  const several = (value: string, before: string[] = []) => [...before, ...value.split(',').filter(Boolean)];
  return command
    .option('--tags <names>', 'only the tools of these areas, such as agents,messages', several)
    .option('--tools <names>', 'only these tools', several)
    .option('--read-only', 'only tools that change nothing')
    .option('--mode <mode>', 'search: three tools in place of all, for clients with little room')
    .option('--agent <id>', 'the server of one published agent, with the tool ask')
    .option(
      '--allow-folder <folder>',
      'tools may upload files of this folder; repeat it for more',
      (value, before: string[] = []) => [...before, value],
    );
}

/**
 * What starts the server with these flags, on this machine. A key is never part of it: the server reads the saved login.
 * @throws Failure `usage` (2) for flags that the server refuses, `no_server` (1) when this program lies without its server
 */
export async function wantedServer(context: Context, flags: ServerFlags): Promise<ServerFields> {
  const { apiKey, apiKeyFile, baseUrl } = context.flags;
  const { env } = context.io;
  if (apiKey !== undefined)
    throw usage(
      'A key is not written into the files of clients.',
      'Save it with guildhall auth login: the server reads the saved login.',
    );
  if (apiKeyFile === '-')
    throw usage('The server cannot read the key from an input of this command.', 'Pass the path of a file.');
  if (baseUrl !== undefined) {
    const { addressFor } = await import('../../login/credential.ts');
    addressFor({ baseUrl }, context.surroundings, undefined); // refuses what is no address, or has a password in it
  }
  const { mode } = flags;
  if (mode !== undefined && mode !== 'all' && mode !== 'search') throw usage('--mode is all or search.');
  const isNarrowed = flags.tags ?? flags.tools ?? flags.readOnly ?? mode;
  if (flags.agent !== undefined && isNarrowed !== undefined)
    throw usage('--agent has one tool: leave out --tags, --tools, --read-only and --mode.');
  const program = serverProgram();
  if (!program)
    throw new Failure('no_server', 1, 'The program of the MCP server is not beside this one.', {
      hint: 'Install the package guildhall again.',
    });
  await checkChoice(flags);
  const profile = context.flags.profile ?? (env.GUILDHALL_PROFILE || undefined);
  const options = { ...flags, mode: mode as 'all' | 'search' | undefined, profile, apiKeyFile, baseUrl };
  return serverFields(program, options, { cwd: context.io.cwd, configFolder: await otherConfigFolder(context) });
}

/** Areas and tools that do not exist are refused now, and not when the client starts the server. */
async function checkChoice({ tags, tools }: ServerFlags): Promise<void> {
  if (!tags && !tools) return;
  const { toolSet } = await import('../../mcp/tools/index.ts');
  try {
    toolSet({ ...(tags && { tags }), ...(tools && { tools }) });
  } catch (error) {
    throw usage((error as Error).message);
  }
}

/** The folder of the logins, when a server that is started without this shell's variables would look elsewhere. */
async function otherConfigFolder({ surroundings }: Context): Promise<string | undefined> {
  const { configFolder } = await import('../../login/folder.ts');
  const here = configFolder(surroundings)?.path;
  const there = configFolder({ ...surroundings, env: {} })?.path;
  return here === undefined || here === there ? undefined : resolve(here);
}
