import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../generated/operations.ts';

const root = join(import.meta.dirname, '../..');

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

const { notImplemented } = JSON.parse(read('tests/spec/burn-down.json')) as { notImplemented: string[] };
const all = globSync('spec/paths/**/*.yaml', { cwd: root }).flatMap((file) => read(file).match(/operationId: /g) ?? []);

test('the generated table has every operation of the files of the document', () => {
  expect(Object.keys(operations)).toHaveLength(all.length);
  expect(all.length).toBeGreaterThan(0);
});

test('README.md says how many operations are described, and how many are served', () => {
  expect(read('README.md')).toContain(`OpenAPI document of ${all.length} operations`);
  expect(read('README.md')).toContain(`\n${all.length - notImplemented.length} operations are served by this release`);
});

test('each decision has a number of its own, which its title repeats', () => {
  const files = globSync('docs/decisions/*.md', { cwd: root }).sort();
  expect(files.map((file) => /^# (\d+)\. /.exec(read(file))?.[1])).toEqual(files.map((_, index) => String(index + 1)));
  expect(files.map((file) => /(\d{4})-[^/]+$/.exec(file)?.[1])).toEqual(
    files.map((_, index) => String(index + 1).padStart(4, '0')),
  );
});
