import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { makeReadyAgent, publish } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { until } from '../../support/poll.ts';

const MAIN = join(import.meta.dirname, '../../../clients/mcp/main.ts');
const info = { name: 'a-test', version: '1' };

let app: TestApp;
let home: string;
const open: (Client | OldClient)[] = [];
beforeAll(async () => {
  app = await startTestApp();
  home = await mkdtemp(join(tmpdir(), 'guildhall-mcp-'));
});
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});
afterAll(async () => {
  await app.close();
  await rm(home, { recursive: true });
});

/** How the program is started: with the service's address, and with a key unless a test says otherwise. */
function server(args: string[] = [], env: Record<string, string> = { GUILDHALL_API_KEY: app.workspace.apiKey }) {
  const { PATH = '' } = process.env;
  return {
    command: process.execPath,
    args: [MAIN, ...args],
    env: { PATH, HOME: home, GUILDHALL_BASE_URL: app.origin, ...env },
    stderr: 'pipe' as const,
  };
}

async function connect(mode: 'legacy' | { pin: string }, ...options: Parameters<typeof server>): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode } });
  open.push(client);
  await client.connect(new StdioClientTransport(server(...options)));
  return client;
}

const eras: [string, () => Promise<Client | OldClient>][] = [
  ['2.4 in the era of 2026', () => connect({ pin: '2026-07-28' })],
  ['2.4 in the era of 2025', () => connect('legacy')],
  [
    '1.32',
    async () => {
      const client = new OldClient(info);
      open.push(client);
      await client.connect(new OldTransport(server()));
      return client;
    },
  ],
];

test.each(eras)('the client %s lists the tools, calls one, and reads what the service has', async (_name, begin) => {
  const client = await begin();
  expect(client.getServerVersion()).toMatchObject({ name: 'guildhall' });
  expect((await client.listTools()).tools).toHaveLength(135);
  const result = await client.callTool({ name: 'agents__list_agents', arguments: {} });
  expect(result.structuredContent).toMatchObject({ page: 1 });
  const { contents } = await client.readResource({ uri: 'guildhall://openapi/messages' });
  expect(JSON.stringify(contents)).toContain('sendMessage');
});

test('without a credential it starts, lists, and says with each call how to log in', async () => {
  const client = await connect('legacy', [], {});
  expect((await client.listTools()).tools).toHaveLength(135);
  const result = await client.callTool({ name: 'agents__list_agents', arguments: {} });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result.content)).toContain('guildhall auth login');
  const asked = await connect('legacy', ['--agent', '0199a3f2-0000-7000-8000-00000000dead'], {});
  expect((await asked.listTools()).tools.map(({ name }) => name)).toEqual(['ask']);
  const answer = await asked.callTool({ name: 'ask', arguments: { message: 'Hi' } });
  expect(JSON.stringify(answer.content)).toContain('guildhall auth login');
});

test('with --agent it is the server of that agent, and says when there is none', async () => {
  const { publicId } = await makeReadyAgent(app, { name: 'Desk' });
  await publish(app, publicId);
  const client = await connect({ pin: '2026-07-28' }, ['--agent', publicId]);
  expect((await client.listTools()).tools[0]).toMatchObject({ name: 'ask', title: 'Ask Desk' });
  const { structuredContent } = await client.callTool({ name: 'ask', arguments: { message: 'Hello' } });
  expect(structuredContent).toMatchObject({ conversation_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  const nobody = await connect('legacy', ['--agent', '0199a3f2-0000-7000-8000-00000000dead']);
  await expect(nobody.listTools()).rejects.toThrow('exists in the workspace of this key');
});

/** Runs the program to its end, with this on stdin. */
async function run(args: string[], input: string) {
  const { command, args: all, env } = server(args);
  const child = spawn(command, all, { env, stdio: 'pipe' });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  const [stdout, stderr] = await output;
  return { code, stdout, stderr };
}

test('wrong options are a sentence on stderr and exit code 2, with nothing on stdout', async () => {
  for (const [args, message] of [
    [['--tags', 'agnets'], 'Did you mean'],
    [['--nonsense'], "Unknown option '--nonsense'"],
  ] as const) {
    const { code, stdout, stderr } = await run([...args], '');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  }
});

test('a message without an end does not fill the memory: the program ends with a sentence', async () => {
  const { command, args, env } = server();
  const child = spawn(command, args, { env, stdio: 'pipe' });
  const stderr = text(child.stderr);
  child.stdin.on('error', () => {});
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"');
  for (let piece = 0; piece < 10; piece += 1) child.stdin.write('x'.repeat(1024 * 1024));
  await once(child, 'close');
  expect(await stderr).toMatch(/^guildhall-mcp: .*exceed/m);
});

test('it ends when stdin ends, and what is no message of the protocol neither ends it nor gets onto stdout', async () => {
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
  const { command, args, env } = server();
  const child = spawn(command, args, { env, stdio: 'pipe' });
  child.stderr.resume();
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece;
  });
  for (const line of ['no JSON', '{}', '[]', '{"jsonrpc":"2.0"}', '['.repeat(20_000), '\u0000'])
    child.stdin.write(`${line}\n`);
  child.stdin.write(`${JSON.stringify(ping)}\n`);
  await until(() => stdout.includes('"id":7') || child.exitCode !== null);
  child.stdin.end();
  expect((await once(child, 'close'))[0]).toBe(0);
  for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});
