import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Document } from '../spec/rules/types.ts';
import { bundle } from './bundle.ts';
import { baseFaults, changelogFaults } from './specDiff/changelog.ts';
import { compareDocuments } from './specDiff/compare.ts';
import type { Change } from './specDiff/lines.ts';
import { readReleased, statedBy, writeReleased } from './specDiff/released.ts';

const specFolder = join(process.cwd(), 'spec');
const releasedFile = join(specFolder, 'released.json');

/**
 * `npm run spec:diff` compares the document of the working copy with the last released one (spec/released.json), and judges whether
 * `info.version` and spec/CHANGELOG.md say what changed (`changelogFaults`).
 *
 * `npm run spec:diff -- <git rev>` compares it with the document of the revision: what a branch changes. The changelog has to have
 * moved with it (`baseFaults`), and it has to name what breaks.
 *
 * `npm run spec:release` makes the document of the working copy the released one, if `npm run spec:diff` finds no fault.
 *
 * Each exits with 1 when something is to be mended, and with 2 when it cannot compare.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { release: { type: 'boolean', default: false } },
  });
  const [revision, ...more] = positionals;
  if (more.length > 0 || (values.release && revision))
    throw new Error('usage: npm run spec:diff [-- <git rev>], npm run spec:release');
  if (revision) return compareWithRevision(revision);
  const document = await documentBelow(process.cwd());
  const released = readReleased(releasedFile);
  const changes = released ? compareDocuments(released.document, document) : [];
  const faults = released ? changelogFaults(readChangelog(specFolder), released, statedBy(document), changes) : [];
  if (released) report(`since ${released.version}`, changes, faults);
  else console.log('There is no released document: nothing to compare with');
  if (values.release && faults.length === 0) {
    writeReleased(releasedFile, document);
    console.log(`spec/released.json is version ${statedBy(document).version}`);
  }
  return faults.length > 0 ? 1 : 0;
}

async function compareWithRevision(revision: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-spec-diff-'));
  try {
    if (!checkOut(revision, folder)) {
      console.log(`${revision} has no spec/: nothing to compare with`);
      return 0;
    }
    const base = join(folder, 'tree/spec');
    const [before, after] = await Promise.all([documentBelow(join(folder, 'tree')), documentBelow(process.cwd())]);
    const changes = compareDocuments(before, after);
    const [was, is] = [before, after].map(statedBy) as [ReturnType<typeof statedBy>, ReturnType<typeof statedBy>];
    const changelog = readChangelog(specFolder);
    const releasedVersion = readReleased(join(base, 'released.json'))?.version;
    const faults = baseFaults({ ...was, changelog: readChangelog(base), releasedVersion }, { ...is, changelog });
    report(`since ${revision}`, changes, [...faults, ...unnamed(after, changes)]);
    return faults.length + unnamed(after, changes).length > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The document of a working copy, with the operations marked that its list names as not served. */
async function documentBelow(folder: string): Promise<Document> {
  const list = join(folder, 'tests/spec/burn-down.json');
  const { notImplemented } = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : { notImplemented: [] };
  return bundle(join(folder, 'spec'), notImplemented);
}

/**
 * The breaking changes that the changelog does not name. What takes back a change that was never released breaks nobody, so that only
 * changes count that are also changes since the released document.
 */
function unnamed(document: Document, changes: Change[]): string[] {
  const released = readReleased(releasedFile);
  const breaking = changes.filter(({ kind }) => kind === 'breaking').map(({ where, what }) => `${where}  ${what}`);
  if (!released) return breaking;
  const since = compareDocuments(released.document, document);
  const faults = changelogFaults(readChangelog(specFolder), released, statedBy(document), since);
  return breaking.filter((line) => faults.some((fault) => fault.endsWith(line)));
}

function readChangelog(folder: string): string {
  const file = join(folder, 'CHANGELOG.md');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function report(since: string, changes: Change[], faults: string[]): void {
  for (const kind of ['breaking', 'generated code', 'addition'] as const) {
    const some = changes.filter((change) => change.kind === kind);
    const title = { breaking: 'breaking', 'generated code': 'breaking for generated code', addition: 'additions' }[
      kind
    ];
    console.log(`${some.length} ${title} ${since}${some.length > 0 ? ':' : ''}`);
    for (const { where, what } of some) console.log(`  ${where}  ${what}`);
  }
  for (const fault of faults) console.log(`FAULT ${fault}`);
}

/** Writes spec/ of a revision, and its list of what is not served, to `folder`/tree, with an index of its own, so that the working copy stays as it is. */
function checkOut(revision: string, folder: string): boolean {
  mkdirSync(join(folder, 'tree'));
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') };
  const git = (...args: string[]) =>
    execFileSync('git', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const commit = git('rev-parse', '--verify', `${revision}^{commit}`).trim();
  if (git('ls-tree', '--name-only', commit, 'spec/openapi.yaml') === '') return false;
  const list = git('ls-tree', '--name-only', commit, 'tests/spec/burn-down.json').trim();
  git(`--work-tree=${join(folder, 'tree')}`, 'checkout', commit, '--', 'spec', ...(list ? [list] : []));
  return true;
}

process.exitCode = await main().catch((error) => {
  console.error(error.stderr?.trim() || error.message);
  return 2;
});
