import { isAbsolute, join } from 'node:path';

/** Where logins are looked for: an environment, and the user's home folder, which some containers and services do not have. */
export interface Surroundings {
  env: Record<string, string | undefined>;
  homeFolder: string | undefined;
  /** What relative paths are relative to. */
  cwd: string;
  /** The whole standard input as text. */
  readInput?(): Promise<string>;
}

/** The folder of the logins, and whether the user named it (then its permissions are the user's). */
export interface ConfigFolder {
  path: string;
  named: boolean;
}

/**
 * `GUILDHALL_CONFIG_DIR`, else `$XDG_CONFIG_HOME/guildhall`, else `~/.config/guildhall`. An empty variable counts as none, and so does an
 * `XDG_CONFIG_HOME` that is relative (XDG Base Directory Specification). Undefined without a home folder.
 */
export function configFolder({ env, homeFolder, cwd }: Surroundings): ConfigFolder | undefined {
  const named = env.GUILDHALL_CONFIG_DIR;
  if (named) return { path: isAbsolute(named) ? named : join(cwd, named), named: true };
  const xdg = env.XDG_CONFIG_HOME;
  if (xdg && isAbsolute(xdg)) return { path: join(xdg, 'guildhall'), named: false };
  return homeFolder ? { path: join(homeFolder, '.config', 'guildhall'), named: false } : undefined;
}
