import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { licensesOf } from '../../clients/licenses.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'guildhall-licenses-'));
  const files: Record<string, string> = {
    'node_modules/one/package.json': '{"name": "one", "version": "1.0.0", "license": "MIT"}',
    'node_modules/one/LICENSE': 'Copyright One\n',
    'node_modules/one/node_modules/@scope/two/package.json':
      '{"name": "@scope/two", "version": "2.0.0", "license": "ISC"}',
    'node_modules/three/package.json': '{"name": "three", "version": "3.0.0"}',
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), text);
  }
});
afterAll(() => rmSync(root, { recursive: true }));

test('each package in a bundle is named once, with its license', () => {
  const inputs = [
    'clients/cli/main.ts',
    'node_modules/one/index.js',
    'node_modules/one/lib/more.js',
    'node_modules/one/node_modules/@scope/two/index.js',
  ];
  expect(licensesOf(root, inputs)).toBe('one 1.0.0\n\nCopyright One\n\n---\n\n@scope/two 2.0.0\n\nLicense: ISC');
  expect(licensesOf(root, ['clients/cli/main.ts'])).toBe('');
});

test('a package without a license is not shipped', () => {
  expect(() => licensesOf(root, ['node_modules/three/index.js'])).toThrow('three has no license');
});
