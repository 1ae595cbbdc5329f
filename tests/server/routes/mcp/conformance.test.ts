import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { type KeyedProxy, startKeyedProxy } from './keyedProxy.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const EXPECTED = join(import.meta.dirname, 'conformance.yml');

let app: TestApp;
let proxy: KeyedProxy;
let folder: string;
beforeAll(async () => {
  app = await startTestApp();
  proxy = await startKeyedProxy(app.origin, app.workspace.apiKey);
  folder = await mkdtemp(join(tmpdir(), 'guildhall-conformance-'));
});
afterAll(async () => {
  await proxy.close();
  await app.close();
  await rm(folder, { recursive: true });
});

test('the conformance suite of the MCP project finds what conformance.yml says, no more and no less', async () => {
  const args = [SUITE, 'server', '--url', `${proxy.origin}/mcp`, '--suite', 'all', '--expected-failures', EXPECTED];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 120_000 }).catch(
    ({ stdout: out, stderr }) => {
      throw new Error(`${out}\n${stderr}`);
    },
  );
  const passed = [...stdout.matchAll(/^✓ (\S+): (?!0 passed)/gm)].map(([, name]) => name);
  expect(passed).toEqual([
    'server-initialize',
    'ping',
    'completion-complete',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ]);
}, 120_000);
