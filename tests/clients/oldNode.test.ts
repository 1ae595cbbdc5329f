import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What Node 20 does not have, of what people are used to. Types do not show it: those of the newest Node are in use. */
const NEWER =
  /\bURL\.parse\(|\bPromise\.(?:withResolvers|try)\b|\b(?:Object|Map)\.groupBy\b|\bArray\.fromAsync\b|\bRegExp\.escape\b|\bIterator\.from\b|\bnavigator\.\w/;

const files = globSync('clients/{cli,code,login,mcp,sdk}/**/*.ts', { cwd: root }).filter(
  (file) => !file.includes('/dist/'),
);

test('the packages for Node 20 call nothing that it does not have', () => {
  expect(files.length).toBeGreaterThan(30);
  const found = files.filter((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .some((line) => NEWER.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line)),
  );
  expect(found).toEqual([]);
});

test.each(['const url = URL.parse(text);', 'return Promise.withResolvers();', 'Object.groupBy(rows, tag)'])(
  '%s would be found',
  (line) => expect(line).toMatch(NEWER),
);
