import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { Failure, usage } from '../failure.ts';
import type { Places } from './places.ts';
import { type Scope, TARGET_IDS, TARGETS, type Target } from './targets.ts';

/** The flags that say which servers of which files are meant. */
export interface ScopeOptions {
  project?: boolean;
  name: string;
}

/** Adds the clients, `--project` and `--name` to a command. */
export function withScopeFlags(command: Command): Command {
  return command
    .argument('[clients...]', `${TARGET_IDS.join(', ')}, all, or auto: those that are there`)
    .option('--project', 'in the files of the project in this folder, in place of your own')
    .option('--name <name>', 'the name of the server in the files of the clients', 'guildhall');
}

/** Where the command runs. */
export function placesOf({ io }: Context): Places {
  return { homeFolder: io.homeFolder, env: io.env, platform: io.platform, cwd: io.cwd };
}

/**
 * The clients that the words name, and the scope. `listed`: `auto` means all that the scope has, there or not.
 * @throws Failure `usage` (2); `no_client` (1) when none is there, unless `mayBeNone`
 */
export function chosenTargets(
  words: string[],
  options: ScopeOptions,
  places: Places,
  { listed = false, mayBeNone = false }: { listed?: boolean; mayBeNone?: boolean } = {},
): { targets: Target[]; scope: Scope; named: boolean } {
  const scope: Scope = options.project ? 'project' : 'user';
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(options.name))
    throw usage(
      `${JSON.stringify(options.name)} cannot be the name of a server.`,
      'A name has at most 64 letters, digits, - and _, and begins with a letter.',
    );
  const ids = words.flatMap((word) => word.split(',')).filter(Boolean);
  const unknown = ids.find((id) => ![...TARGET_IDS, 'all', 'auto'].includes(id));
  if (unknown)
    throw usage(`There is no client ${JSON.stringify(unknown)}.`, `Clients: ${TARGET_IDS.join(', ')}, all, auto.`);
  const possible = TARGETS.filter(({ scopes }) => scopes.includes(scope));
  const named = ids.some((id) => id !== 'all' && id !== 'auto');
  const without = TARGETS.find(({ id }) => ids.includes(id) && !possible.some((target) => target.id === id));
  if (without) throw usage(`${without.title} has no files for a project.`, 'Leave out --project.');
  const all = ids.includes('all') || (listed && !named);
  const present = (target: Target) => (ids.length === 0 || ids.includes('auto')) && target.present(places);
  const targets = possible.filter((target) => all || ids.includes(target.id) || present(target));
  if (targets.length > 0 || mayBeNone) return { targets, scope, named };
  throw new Failure('no_client', 1, 'No client is found on this machine.', {
    hint: `Name the one to set up, such as claude-code. Clients: ${TARGET_IDS.join(', ')}.`,
  });
}

/** The path of the client's file. @throws Failure `no_home` (2) */
export function fileOf(target: Target, places: Places, scope: Scope): string {
  const path = target.file(places, scope);
  if (path) return path;
  throw new Failure('no_home', 2, `There is no home folder, and so no file of ${target.title}.`, {
    hint: 'Set HOME, or use --project for the files of this folder.',
  });
}
