import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from './commandLine.ts';

/** The home folder of the test's user, and the folder of a project. New ones for each test. */
export let home: string;
export let project: string;

/** Makes and removes the folders around each test of the file. */
export function useFolders(): void {
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'guildhall-home-'));
    project = mkdtempSync(join(tmpdir(), 'guildhall-project-'));
  });
  afterEach(() => {
    for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
  });
}

/** Runs a command line of somebody who is at home in `home` and works in `project`. */
export async function guildhall(
  words: string[],
  more: { env?: Record<string, string>; homeFolder?: string | undefined; isTerminal?: boolean } = {},
) {
  const printed = await commandLine(words, { homeFolder: home, cwd: project, ...more });
  return { ...printed, rows: () => JSON.parse(printed.stdout) };
}

/** Writes a file of the home folder, with its folders. */
export function write(path: string, text: string): string {
  const whole = join(home, path);
  mkdirSync(join(whole, '..'), { recursive: true });
  writeFileSync(whole, text);
  return whole;
}

/** A JSON file of the home folder. */
export function json(path: string) {
  return JSON.parse(readFileSync(join(home, path), 'utf8'));
}

/** Every file below the folder. */
export function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
}
