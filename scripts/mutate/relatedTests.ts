import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';

const SOURCES = '{core,db,integrations,runtime,domain,jobs,handlers,server,scripts,tests}/**/*.ts';

/**
 * The tests of a source file, nearest first: tests that import it, and tests named after the operations whose handlers import it,
 * directly or through other modules. Paths are relative to the root.
 */
export function relatedTests(root: string, file: string, most: number): string[] {
  const importers = importersOf(root);
  const tests = globSync('tests/**/*.test.ts', { cwd: root });
  const byName = Map.groupBy(tests, (name) => basename(name, '.test.ts'));
  const seen = new Set([file]);
  const found = new Set<string>();
  let ring = [file];
  while (ring.length > 0 && found.size < most) {
    for (const name of ring) {
      if (name.endsWith('.test.ts')) found.add(name);
      if (name === file || name.startsWith('handlers/'))
        for (const test of byName.get(basename(name, '.ts')) ?? []) found.add(test);
    }
    // A handler is imported by the registry, through which everything is related to everything.
    const inner = ring.filter((name) => !name.startsWith('handlers/') && !name.startsWith('tests/'));
    ring = [...new Set(inner.flatMap((name) => importers.get(name) ?? []))].filter((name) => !seen.has(name));
    for (const name of ring) seen.add(name);
  }
  return [...found].slice(0, most);
}

/** Which files import each file. */
function importersOf(root: string): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const name of globSync(SOURCES, { cwd: root })) {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(root, name), 'utf8'));
    for (const { fileName } of importedFiles.filter((each) => each.fileName.startsWith('.'))) {
      const target = relative(root, join(root, dirname(name), fileName));
      importers.set(target, [...(importers.get(target) ?? []), name]);
    }
  }
  return importers;
}
