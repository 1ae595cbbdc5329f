import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { guideState } from '../guide/file.ts';
import { readEntry } from './clientEntry.ts';
import { UnreadableConfig } from './edit/format.ts';
import { report } from './rows.ts';
import { chosenTargets, placesOf, type ScopeOptions, withScopeFlags } from './scopeFlags.ts';
import { startsOurs } from './server.ts';
import type { Scope, Target } from './targets.ts';

/** `guildhall mcp list`: the clients, their files, and whether the server is in them. It starts nothing and asks nobody. */
export const register: Register = (command, context) => {
  withScopeFlags(command)
    .addHelpText('after', examples(['guildhall mcp list', 'guildhall mcp list --project --json']))
    .action(async (words: string[], options: ScopeOptions) => {
      const { targets, scope } = chosenTargets(words, options, placesOf(context()), { listed: true });
      const rows = await Promise.all(targets.map((target) => rowFor(context(), target, scope, options.name)));
      await report(context(), rows, [HEAD, ...rows.map(lineOf)]);
    });
};

const HEAD = ['client', 'here', 'server', 'guide', 'file'];

function lineOf({ client, present, server, guide, path }: Awaited<ReturnType<typeof rowFor>>): string[] {
  return [client, present ? 'yes' : 'no', server, guide ?? '–', path ?? '–'];
}

async function rowFor(context: Context, target: Target, scope: Scope, name: string) {
  const places = placesOf(context);
  const path = target.file(places, scope) ?? null;
  const guide = target.guide(places, scope);
  return {
    client: target.id,
    title: target.title,
    scope,
    present: target.present(places),
    path,
    server: path === null ? 'no file' : await serverState(target, scope, path, name),
    guide: guide ? await guideState(guide) : null,
    guidePath: guide?.path ?? null,
  };
}

async function serverState(target: Target, scope: Scope, path: string, name: string): Promise<string> {
  try {
    const entry = await readEntry({ target, scope, path, name });
    if (!entry) return 'none';
    return startsOurs(entry) ? 'installed' : 'another';
  } catch (error) {
    if (error instanceof UnreadableConfig || (error as NodeJS.ErrnoException).code) return 'unreadable';
    throw error;
  }
}
