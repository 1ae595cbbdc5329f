import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { VERSION } from '../../../clients/mcp/version.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

/* The package as a stranger gets it: packed, installed in an empty project, run on the Node of the machine. */
const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** A Node of the machine that is older than ours, else our own. */
const node =
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((path) => /^v2[0-2]\./.test(versionOf(path))) ?? process.execPath;

function versionOf(path: string): string {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

let app: TestApp;
let project: string;
let program: string;
beforeAll(async () => {
  app = await startTestApp();
  project = mkdtempSync(join(tmpdir(), 'guildhall-mcp-package-'));
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const { stdout } = await run('npm', ['pack', './clients/mcp', '--json', '--pack-destination', project], {
    cwd: root,
  });
  const file = readdirSync(project).find((name) => name.endsWith('.tgz')) ?? stdout;
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(project, file)], { cwd: project });
  program = join(project, 'node_modules/guildhall-mcp/dist/guildhall-mcp.js');
});
afterAll(async () => {
  await app.close();
  rmSync(project, { recursive: true, force: true });
});

test('it needs no other package, and says its version', async () => {
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['guildhall-mcp']);
  expect((await run(node, [program, '--version'])).stdout).toBe(`${VERSION}\n`);
});

test.each([
  ['all tools', [], 135],
  ['three tools', ['--mode', 'search'], 3],
])('it lists %s, and calls them, on the Node of the machine', async (_name, args, count) => {
  const client = new Client({ name: 'a-test', version: '1' });
  const env = {
    PATH: '/usr/bin',
    HOME: project,
    GUILDHALL_API_KEY: app.workspace.apiKey,
    GUILDHALL_BASE_URL: app.origin,
  };
  await client.connect(new StdioClientTransport({ command: node, args: [program, ...args], env, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(count);
  if (count === 135) {
    const made = await client.callTool({
      name: 'agents__create_agent',
      arguments: { body: { name: 'By the bundle' } },
    });
    expect(made.structuredContent).toMatchObject({ name: 'By the bundle', status: 'draft' });
    const { contents } = await client.readResource({ uri: 'guildhall://guide' });
    expect(contents).toHaveLength(1);
  }
  await client.close();
});
