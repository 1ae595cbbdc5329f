import type { Context } from '../context.ts';

/** What a server that a client starts looks its login up by: its arguments and its variables. */
export interface StartedServer {
  args: string[];
  env: Record<string, string>;
}

/** The value behind a flag of the server. */
function flag({ args }: StartedServer, name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

/** The flags of the server that say which login counts. */
export function loginFlags(server: StartedServer) {
  return {
    profile: flag(server, '--profile'),
    apiKeyFile: flag(server, '--api-key-file'),
    baseUrl: flag(server, '--base-url'),
  };
}

/**
 * What keeps the server from finding a login when a client starts it, as a sentence; undefined when it will find one. What this shell has in
 * GUILDHALL_API_KEY does not reach it.
 */
export async function loginRemark({ surroundings }: Context, server: StartedServer): Promise<string | undefined> {
  const { apiKeyFile, profile } = loginFlags(server);
  if (apiKeyFile !== undefined) return undefined;
  const { DEFAULT_PROFILE, readProfiles } = await import('../../login/profiles.ts');
  const name = profile ?? DEFAULT_PROFILE;
  try {
    if (Object.hasOwn(await readProfiles(surroundings), name)) return undefined;
  } catch (error) {
    if ((error as Error).name !== 'LoginError') throw error;
    return (error as Error).message;
  }
  const command = name === DEFAULT_PROFILE ? 'guildhall auth login' : `guildhall auth login --profile ${name}`;
  const variable = surroundings.env.GUILDHALL_API_KEY
    ? ' GUILDHALL_API_KEY of this shell does not reach the clients.'
    : '';
  return `No login is saved for the server: run ${command}.${variable}`;
}
