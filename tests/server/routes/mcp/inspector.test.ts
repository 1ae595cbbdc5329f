import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const INSPECTOR = join(ROOT, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

let app: TestApp;
let home: string;
beforeAll(async () => {
  app = await startTestApp();
  home = await mkdtemp(join(tmpdir(), 'guildhall-inspector-'));
});
afterAll(async () => {
  await app.close();
  await rm(home, { recursive: true });
});

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the inspector of the MCP project as a command, in a home of its own. */
function inspect(...args: string[]): Promise<Outcome> {
  const env = { PATH: process.env.PATH, HOME: home };
  return new Promise((resolve) => {
    execFile(process.execPath, [INSPECTOR, '--cli', ...args], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    );
  });
}

const overHttp = () => [`${app.origin}/mcp`, '--transport', 'http', '--header', `X-Api-Key: ${app.workspace.apiKey}`];
const overStdio = () => [
  process.execPath,
  join(ROOT, 'clients/mcp/main.ts'),
  '-e',
  `GUILDHALL_API_KEY=${app.workspace.apiKey}`,
  '-e',
  `GUILDHALL_BASE_URL=${app.origin}`,
];

describe.each([
  ['/mcp', overHttp],
  ['stdio', overStdio],
])('the inspector over %s', (_name, target) => {
  test('lists the tools and finds no error in their schemas', async () => {
    const { code, stdout, stderr } = await inspect(...target(), '--method', 'tools/list', '--strict');
    expect([code, JSON.parse(stdout).tools.length]).toEqual([0, 135]);
    // A type that may be null, as JSON Schema has it, and a value that may be anything: it finds both less portable, and both are meant.
    const meant = /Issue: (`type` is an array|Schema carries no validation keyword)/;
    const issues = stderr.match(/Issue: .*/g)?.filter((issue) => !meant.test(issue));
    expect([stderr.match(/\d+ errors/)?.[0], issues]).toEqual(['0 errors', []]);
  });

  test('calls a tool', async () => {
    const args = ['--method', 'tools/call', '--tool-name', 'agents__list_agents', '--tool-arg', 'limit=5'];
    const { code, stdout, stderr } = await inspect(...target(), ...args);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { items: [], limit: 5 } });
  });
});
