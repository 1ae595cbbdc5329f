import { shakeHands } from '../../../../clients/cli/mcp/handshake.ts';
import { until } from '../../../support/poll.ts';

/** Runs a program as a server: `reply` answers a message of the client, `say` writes a line. */
function server(code: string) {
  const program = `
    const say = (line) => process.stdout.write(line + '\\n');
    const reply = (id, result) => say(JSON.stringify({ jsonrpc: '2.0', id, result }));
    const lines = require('node:readline').createInterface({ input: process.stdin });
    const each = (listener) => lines.on('line', (line) => listener(JSON.parse(line)));
    ${code}`;
  return { command: process.execPath, args: ['-e', program], env: { MARK: 'set' } };
}
const started = `reply(id, { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'g', version: '1' } })`;
const options = { env: { PATH: process.env.PATH }, deadlineMs: 20_000 };

test('a server that answers tells its name and the number of its tools, over pages, with words in between', async () => {
  const code = `
    process.stderr.write('starting\\n');
    let ready = false;
    each(({ id, method, params }) => {
      if (method === 'initialize') ${started};
      if (method === 'notifications/initialized') ready = true;
      if (method !== 'tools/list') return;
      if (!ready || process.env.MARK !== 'set') process.exit(3);
      say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} }));
      if (!params.cursor) reply(id, { tools: [{}, {}], nextCursor: 'x' });
      else reply(id, { tools: [{}] });
    });`;
  expect(await shakeHands(server(code), options)).toEqual({ name: 'g', version: '1', tools: 3 });
});

test('a server that would go on without its client is ended', async () => {
  const named = started.replace("'g'", 'String(process.pid)');
  const code = `each(({ id, method }) => (method === 'initialize' ? ${named} : id && reply(id, { tools: [] }))); setInterval(() => {}, 1000);`;
  const { name } = await shakeHands(server(code), options);
  await until(() => {
    try {
      return !process.kill(Number(name), 0);
    } catch {
      return true;
    }
  });
});

test.each<[string, string, string]>([
  [
    'that ends at once',
    `process.stderr.write('Error: no such file\\n'); process.exit(7);`,
    'ended with exit code 7: Error: no such file',
  ],
  ['that ends after its first answer', `each(({ id }) => { ${started}; process.exit(0); });`, 'ended with exit code 0'],
  ['that prints to stdout', `say('Welcome!');`, 'writes something to stdout that is no message: "Welcome!"'],
  [
    'that refuses',
    `each(({ id }) => say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: 'no' } })));`,
    'refused initialize: no',
  ],
])('a server %s', async (_name, code, message) => {
  await expect(shakeHands(server(code), options)).rejects.toThrow(message);
});

test('a server that says nothing is ended at the deadline, with the last line of what it told people', async () => {
  const code = `process.stderr.write('waiting for a lock\\n'); setInterval(() => {}, 1000);`;
  await expect(shakeHands(server(code), { ...options, deadlineMs: 600 })).rejects.toThrow(
    /^did not answer within 0.6 seconds(: waiting for a lock)?$/,
  );
});

test('a program that is not there', async () => {
  await expect(shakeHands({ command: '/no/such/program', args: [], env: {} }, options)).rejects.toThrow(
    'cannot be started: ENOENT',
  );
  await expect(shakeHands({ command: 'x\0', args: [], env: {} }, options)).rejects.toThrow('cannot be started: ');
});
