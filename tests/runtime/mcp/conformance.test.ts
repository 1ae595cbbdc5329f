import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool } from '../../../runtime/mcp/pool.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance');

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}
/** What the suite starts a client with. */
interface Started {
  scenario: string;
  address: string;
  /** JSON: the calls to make, in some scenarios. */
  context: string;
}

let relay: net.Server;
let folder: string;
/** What the client said in each scenario. */
const said = new Map<string, string>();
/** Opened when as many clients have been started as a run of the suite has. */
let gate: { clients: number; opened: Promise<void>; open(): void };

/** The arguments that an agent would give: those that the scenario names, or what the results so far and the schemas say. */
function argumentsFor(name: string, before: string, schemas: Record<string, unknown>): Record<string, unknown>[] {
  if (name === 'add_numbers') return [{ a: 5, b: 3 }];
  if (name === 'json_schema_echo') return [{ schema: schemas.json_schema_2020_12_tool }];
  if (name === 'read_resource') return [...before.matchAll(/^(\S+:\/\/\S+) /gm)].map(([, uri]) => ({ uri }));
  return [{}];
}

/** The client: it discovers the tools of a server and calls each of them, as an agent would. */
async function runClient({ address: url, context }: Started): Promise<string> {
  const pool = new McpPool({ allowPrivateNetwork: true });
  try {
    const { tools } = await discoverTools({ url, headers: {}, allowPrivateNetwork: true, workspaceId: null });
    const schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
    const { toolCalls: wanted = [] } = JSON.parse(context) as { toolCalls?: Call[] };
    let lines = '';
    for (const { name: tool, inputSchema, resources } of tools) {
      const named = wanted.filter(({ name }) => name === tool).map((call) => call.arguments);
      for (const args of named.length > 0 ? named : argumentsFor(tool, lines, schemas)) {
        const server = { workspaceId: 'w', id: 's', configVersion: 1, url, headers: {} };
        const call = { instanceMode: 'STATIC', tool, resources, inputSchema, arguments: args } as const;
        lines += `${tool}: ${(await pool.call(server, call)).text}\n`;
      }
    }
    return lines;
  } finally {
    await pool.close();
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-conformance-'));
  let before: Promise<unknown> = Promise.resolve();
  relay = net.createServer(async (socket) => {
    const lines = createInterface(socket)[Symbol.asyncIterator]();
    const line = async () => String((await lines.next()).value);
    const started = { scenario: await line(), address: await line(), context: await line() };
    gate.clients -= 1;
    if (gate.clients === 0) gate.open();
    // One after the other, when the suite has begun all of them: a busy machine would let some run out of time.
    const running = Promise.all([before, gate.opened]).then(() => runClient(started));
    before = running.catch(() => undefined);
    const [status, text] = await running.then(
      (found) => [0, found] as const,
      (error: Error) => [1, error.message] as const,
    );
    said.set(started.scenario, text);
    socket.end(`${status}\n${text}`);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
});
afterAll(async () => {
  relay.close();
  await rm(folder, { recursive: true });
});

/** Runs scenarios, each with one client. Throws the output of the suite when it finds other failures than the file lists. */
async function suite(clients: number, ...chosen: string[]): Promise<void> {
  said.clear();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  gate = { clients, opened, open };
  const { port } = relay.address() as AddressInfo;
  const command = `bash ${join(import.meta.dirname, 'conformanceRelay.sh')} ${port}`;
  const args = ['client', '--command', command, '--output-dir', join(folder, 'results'), '--timeout', '160000'];
  const run = [join(PACKAGE, 'dist/index.js'), ...args, ...chosen];
  const ran = promisify(execFile)(process.execPath, run, { cwd: folder, timeout: 170_000 });
  await ran.catch(({ stdout, stderr }) => {
    throw new Error(`${stdout}\n${stderr}`);
  });
}

const expected = ['--expected-failures', join(import.meta.dirname, 'conformance.yml')];

test.each(['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'json-schema-2020-12-preservation'])(
  'the conformance suite finds of the scenario %s in 2025-11-25 what conformance.yml says',
  async (scenario) => {
    await suite(1, '--scenario', scenario, '--spec-version', '2025-11-25', ...expected);
    if (scenario === 'tools_call') expect(said.get(scenario)).toBe('add_numbers: The sum of 5 and 3 is 8\n');
    // A server that asks for input is told that there is none, and the model too.
    if (scenario.startsWith('elicitation'))
      expect(said.get(scenario)).toContain('nobody can answer a server during a call');
  },
);

test('the conformance suite finds that a stream is resumed after its last event', async () => {
  await suite(1, '--scenario', 'sse-retry').catch(() => undefined);
  const [run = ''] = (await readdir(join(folder, 'results'))).filter((name) => name.includes('sse-retry'));
  const checks: { id: string; status: string }[] = JSON.parse(
    await readFile(join(folder, 'results', run, 'checks.json'), 'utf8'),
  );
  const statuses = Object.fromEntries(checks.map(({ id, status }) => [id, status]));
  // How late the client may be is measured too. That is a matter of the machine: tests/runtime/mcp/discover.test.ts has the pause.
  expect(statuses).toMatchObject({
    'client-sse-graceful-reconnect': 'SUCCESS',
    'client-sse-last-event-id': 'SUCCESS',
    'client-sse-retry-timing': expect.any(String),
  });
});

test('the conformance suite finds of everything that 2026-07-28 requires what conformance.yml says', async () => {
  const required = parse(await readFile(join(PACKAGE, 'requirements/2026-07-28.yaml'), 'utf8'));
  const others = (required.not_scored as { leg: string }[]).filter(({ leg }) => leg === 'client');
  await suite(required.client.length + others.length, '--requirements', '2026-07-28', ...expected);
  const logins = [...said].filter(([scenario]) => scenario.startsWith('auth/'));
  expect(logins.length).toBeGreaterThanOrEqual(25);
  expect(logins.filter(([, text]) => !text.includes('asks for a login by OAuth'))).toEqual([]);
  expect([...said].filter(([, text]) => text === '').map(([scenario]) => scenario)).toEqual(['request-metadata']);
});
