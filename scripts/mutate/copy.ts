import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What a run of the tests says: they pass, they fail, or they do not end in time. */
export type TestOutcome = 'passed' | 'failed' | 'timed out';

/** A folder with the last commit and the changes of tracked files since. */
export function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-mutate-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  // Empty when nothing has changed. It stashes nothing: it only makes a commit object.
  const changes = git('stash', 'create');
  git('worktree', 'add', '--quiet', '--force', '--detach', folder, changes || 'HEAD');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Removes what `makeCopy` made. */
export function removeCopy(copy: string): void {
  execFileSync('git', ['worktree', 'remove', '--force', copy], { cwd: root });
  rmSync(copy, { recursive: true, force: true });
}

/** Runs tests in a copy. It stops at the first one that fails, and after `limitMs`. */
export function runTests(copy: string, tests: string[], limitMs: number): Promise<TestOutcome> {
  const args = ['jest', '--bail', '--silent', '--reporters=default', '--runTestsByPath', ...tests];
  return new Promise((done) => {
    // In a process group of its own, so that the database of the tests ends with it.
    const child = spawn('npx', args, { cwd: copy, stdio: 'ignore', detached: true });
    let outcome: TestOutcome = 'timed out';
    const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), limitMs);
    child.on('exit', (code) => {
      clearTimeout(timer);
      if (code !== null) outcome = code === 0 ? 'passed' : 'failed';
      done(outcome);
    });
  });
}
