import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { compareDocuments } from './specDiff/compare.ts';

/**
 * `npm run spec:diff -- <git rev>`: compares the document of the working copy with that of the revision. Exits with 1 when
 * a change breaks callers, and with 2 when it cannot compare. `compareDocuments` says which changes it does not see.
 */
async function main(): Promise<number> {
  const [revision] = process.argv.slice(2);
  if (!revision) {
    console.error('usage: npm run spec:diff -- <git rev>');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-spec-diff-'));
  try {
    if (!checkOut(revision, folder)) {
      console.log(`${revision} has no spec/: nothing to compare with`);
      return 0;
    }
    const [before, after] = await Promise.all([bundle(join(folder, 'tree/spec')), bundle(join(process.cwd(), 'spec'))]);
    const changes = compareDocuments(before, after);
    for (const kind of ['breaking', 'non-breaking'] as const) {
      const some = changes.filter((change) => change.kind === kind);
      console.log(`${some.length} ${kind}${some.length > 0 ? ':' : ''}`);
      for (const { where, what } of some) console.log(`  ${where}  ${what}`);
    }
    console.log(
      'Not seen: rules that only the prose or the service states, and rules across fields; a changed pattern or format counts as breaking.',
    );
    return changes.some((change) => change.kind === 'breaking') ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes spec/ of a revision to `folder`/tree, with an index of its own, so that the working copy stays as it is. */
function checkOut(revision: string, folder: string): boolean {
  mkdirSync(join(folder, 'tree'));
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') };
  const git = (...args: string[]) =>
    execFileSync('git', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const commit = git('rev-parse', '--verify', `${revision}^{commit}`).trim();
  if (git('ls-tree', '--name-only', commit, 'spec/openapi.yaml') === '') return false;
  git(`--work-tree=${join(folder, 'tree')}`, 'checkout', commit, '--', 'spec');
  return true;
}

process.exitCode = await main().catch((error) => {
  console.error(error.stderr?.trim() || error.message);
  return 2;
});
