import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { removeGuide } from '../guide/file.ts';
import { plainText } from '../terminal/plain.ts';
import { readEntry, removeEntry } from './clientEntry.ts';
import type { Places } from './places.ts';
import { failureOf, guideRemarks, type Row, report, rowLines, rowOf } from './rows.ts';
import { chosenTargets, fileOf, placesOf, type ScopeOptions, withScopeFlags } from './scopeFlags.ts';
import { type GuidePlace, type Scope, TARGETS, type Target } from './targets.ts';

interface UninstallOptions extends ScopeOptions {
  force?: boolean;
  dryRun?: boolean;
  skill: boolean;
}

/** `guildhall mcp uninstall`: takes the entry and the guide away again. Logins stay. */
export const register: Register = (command, context) => {
  withScopeFlags(command)
    .option('--force', 'remove a server of that name that is not one of Guildhall, too')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--no-skill', 'leave the guide for coding agents')
    .addHelpText('after', examples(['guildhall mcp uninstall', 'guildhall mcp uninstall vscode --project']))
    .action(async (words: string[], options: UninstallOptions) => uninstall(context(), words, options));
};

async function uninstall(context: Context, words: string[], options: UninstallOptions): Promise<void> {
  const places = placesOf(context);
  const { targets, scope } = chosenTargets(words, options, places);
  const files = targets.map((target) => ({ target, path: fileOf(target, places, scope) }));
  const { name, dryRun: dry = false, force = false } = options;
  const removed: [Target, string, Awaited<ReturnType<typeof removeEntry>>][] = [];
  for (const { target, path } of files)
    removed.push([target, path, await removeEntry({ target, scope, path, name }, { force, dry })]);
  const gone = new Set(
    removed.filter(([, , { result }]) => result === 'removed' || result === 'absent').map(([target]) => target),
  );
  const rows: Row[] = [];
  for (const [target, path, outcome] of removed) {
    const guide = options.skill && gone.has(target) ? target.guide(places, scope) : undefined;
    const isNeeded = guide && (await isGuideNeeded(guide, gone, { places, scope, name }));
    const taken = guide && !isNeeded ? { path: guide.path, result: await removeGuide(guide, { dry }) } : undefined;
    rows.push(rowOf(target, path, outcome, taken, dry));
  }
  for (const row of rows)
    if (context.isForPeople && row.change !== undefined)
      await context.write(plainText(`${row.path}\n${row.change}\n\n`));
  guideRemarks(context, rows);
  await report(context, rows, rowLines(rows), failureOf(rows));
}

/** Clients share guides: one stays as long as another client that reads it has the server. */
async function isGuideNeeded(
  guide: GuidePlace,
  gone: ReadonlySet<Target>,
  { places, scope, name }: { places: Places; scope: Scope; name: string },
): Promise<boolean> {
  for (const target of TARGETS) {
    const path = target.file(places, scope);
    if (gone.has(target) || !path || target.guide(places, scope)?.path !== guide.path) continue;
    // A file that cannot be read may have the server.
    const entry = await readEntry({ target, scope, path, name }).catch(() => ({}));
    if (entry) return true;
  }
  return false;
}
