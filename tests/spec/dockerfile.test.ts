import { existsSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');
const ENTRIES = ['server/main.ts', 'scripts/admin.ts'];

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** Files beside a module that it opens by path: workers, child processes, data. */
const BESIDE = /(?:new URL\('([^']+)', import\.meta\.url\)|join\(import\.meta\.dirname, '([^']+)'\))/g;

/** The modules and files that the entries load, directly and through each other, and the packages that these import. */
function loaded(entries: string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file) || !existsSync(join(root, file))) continue;
    files.add(file);
    if (!file.endsWith('.ts') || statSync(join(root, file)).isDirectory()) continue;
    // Type imports are gone after this, as they are when the service runs.
    const code = stripTypeScriptTypes(read(file));
    const names = ts.preProcessFile(code).importedFiles.map(({ fileName }) => fileName);
    for (const name of names.filter((each) => !each.startsWith('.') && !isBuiltin(each)))
      packages.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
    const beside = [...code.matchAll(BESIDE)].map(([, url, path]) => url ?? path ?? '');
    for (const name of [...names.filter((each) => each.startsWith('.')), ...beside])
      open.push(relative(root, join(root, dirname(file), name)));
  }
  return { files, packages };
}

/** The names at the root of the repository that the image copies out of the build's context. */
function copied(dockerfile: string): string[] {
  return [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
}

const { files, packages } = loaded(ENTRIES);
const needed = [...new Set([...files].map((file) => file.split(sep)[0] ?? ''))].filter(Boolean).sort();

test('the entries load modules of all floors of the service', () => {
  // Says that the walk above works: without it the tests below would pass for want of anything to compare.
  expect(needed).toEqual(
    expect.arrayContaining(['core', 'db', 'domain', 'generated', 'handlers', 'runtime', 'server']),
  );
  expect(files).toContain('runtime/sandbox/prelude.js');
  expect(files).toContain('db/migrations');
  expect(files).toContain('server/pages/docs/index.html');
});

test('the image copies every folder that the service and the admin command load', () => {
  // package.json says that the files are ES modules.
  expect(copied(read('Dockerfile')).sort()).toEqual(
    expect.arrayContaining(['package.json', 'package-lock.json', '.npmrc', ...needed]),
  );
});

test('.dockerignore lets through exactly what the image copies, and all of it exists', () => {
  const [first, ...rest] = read('.dockerignore').trim().split('\n');
  expect(first).toBe('*');
  expect(rest.map((line) => line.replace(/^!/, '')).sort()).toEqual([...new Set(copied(read('Dockerfile')))].sort());
  expect(rest.filter((line) => !existsSync(join(root, line.slice(1))))).toEqual([]);
});

test('the packages that the service imports are no development dependencies, which the image leaves out', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  expect([...packages].filter((name) => !(name in dependencies))).toEqual([]);
  expect(packages).toContain('express');
});
