import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '../..');
const packed = (...names: string[]) =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(root, 'server/pages/chat', name))).length, 0);

test('the bundle is what the sources say', async () => {
  await promisify(execFile)(process.execPath, ['scripts/bundleChatPage.ts', '--check'], { cwd: root });
});

test('the page has at most 60 kB in all, packed, and the script that embeds it at most 10 kB', () => {
  expect(packed('page.html', 'bundle/page.js', 'bundle/page.css', 'bundle/embed.js')).toBeLessThanOrEqual(60_000);
  expect(readFileSync(join(root, 'server/pages/chat/bundle/embed.js')).length).toBeLessThanOrEqual(10_000);
});

test('the bundle never makes HTML of a text', () => {
  const source = readFileSync(join(root, 'server/pages/chat/bundle/page.js'), 'utf8');
  for (const way of ['outerHTML', 'insertAdjacentHTML', 'document.write', 'new Function', 'eval('])
    expect(source).not.toContain(way);
});
