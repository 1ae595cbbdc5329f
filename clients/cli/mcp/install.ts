import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { writeGuide } from '../guide/file.ts';
import { plainText } from '../terminal/plain.ts';
import { type EntryResult, installEntry } from './clientEntry.ts';
import { loginRemark } from './login.ts';
import { failureOf, guideRemarks, type Row, report, rowLines, rowOf } from './rows.ts';
import { chosenTargets, fileOf, placesOf, type ScopeOptions, withScopeFlags } from './scopeFlags.ts';
import { type ServerFlags, wantedServer, withServerFlags } from './serverFlags.ts';

interface InstallOptions extends ScopeOptions, ServerFlags {
  update?: boolean;
  dryRun?: boolean;
  skill: boolean;
}

/** `guildhall mcp install`: the entry that starts the MCP server, and the guide, for each client. */
export const register: Register = (command, context) => {
  withServerFlags(withScopeFlags(command))
    .option('--update', 'replace another entry of the same name')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--no-skill', 'without the guide for coding agents')
    .addHelpText(
      'after',
      examples([
        'guildhall mcp install                         every client that is there',
        'guildhall mcp install claude-code --dry-run   what would change',
        'guildhall mcp install cursor --project --tags agents,messages --read-only',
        'guildhall mcp install codex --name guildhall-staging --profile staging',
      ]),
    )
    .action(async (words: string[], options: InstallOptions) => install(context(), words, options));
};

/** Results after which the client has the entry. */
const SET_UP = new Set<EntryResult>(['installed', 'updated', 'unchanged']);

async function install(context: Context, words: string[], options: InstallOptions): Promise<void> {
  const places = placesOf(context);
  const { targets, scope } = chosenTargets(words, options, places);
  const files = targets.map((target) => ({ target, path: fileOf(target, places, scope) }));
  const server = await wantedServer(context, options);
  const { name, dryRun: dry = false, update = false } = options;
  const rows: Row[] = [];
  for (const { target, path } of files) {
    const outcome = await installEntry({ target, scope, path, name }, server, { update, dry });
    const guide = options.skill && SET_UP.has(outcome.result) ? target.guide(places, scope) : undefined;
    const written = guide && { path: guide.path, result: await writeGuide(guide, { dry }) };
    rows.push(rowOf(target, path, outcome, written, dry));
  }
  const changes = rows.filter(({ change }) => change !== undefined);
  if (context.isForPeople) for (const row of changes) await context.write(plainText(`${row.path}\n${row.change}\n\n`));
  guideRemarks(context, rows);
  if (scope === 'project' && rows.some(({ result }) => result === 'installed' || result === 'updated'))
    context.say('These files have paths of this machine. Others who share the project install for themselves.');
  if (/[\\/]_npx[\\/]/.test(server.args[0] ?? ''))
    context.say(
      'npx keeps this program for a while only. Run npm install --global guildhall, and install again with --update.',
    );
  const isSetUp = !dry && rows.some(({ result }) => SET_UP.has(result));
  const remark = isSetUp ? await loginRemark(context, server) : undefined;
  if (remark) context.say(remark);
  await report(context, rows, rowLines(rows), failureOf(rows));
}
