import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { runDatabaseQuery } from '../../../../runtime/tools/databaseQuery/databaseQuery.ts';
import { rowReader } from '../../../../runtime/tools/databaseQuery/values.ts';
import { mainThreadMs } from '../../../support/processorTime.ts';

const servers: net.Server[] = [];

afterAll(() => {
  for (const server of servers) server.close();
});

/** Starts a server that the test implements. Returns its port. */
async function serve(serveOne: (socket: Socket) => void): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    serveOne(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The message of a call's failure. */
async function messageOf(connection: string, timeoutSeconds = 60): Promise<string> {
  const query = { query: 'select 1', inputs: {}, maxRows: 10 };
  const limits = { timeoutSeconds, allowPrivateNetwork: true, workspaceId: 'workspace' };
  const error = await runDatabaseQuery({ ...query, connection, ...limits }).then(
    (value) => new Error(`no failure but ${JSON.stringify(value)}`),
    (reason: Error) => reason,
  );
  if (error.name !== 'ToolFailure') throw error;
  return error.message;
}

function at(port: number, search = '?sslmode=disable'): string {
  return `postgres://user:secret@127.0.0.1:${port}/sales${search}`;
}

/** A message of the server: type, length, body. */
function message(type: string, body: Buffer | string, length = Buffer.byteLength(body) + 4): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

const OK = message('R', Buffer.alloc(4));
const KEY = message('K', Buffer.alloc(8, 1));
const READY = message('Z', 'I');
const LOGGED_IN = Buffer.concat([OK, KEY, READY]);
const int16 = (value: number) => Buffer.from([(value >> 8) & 255, value & 255]);
const int32 = (value: number) => Buffer.from([24, 16, 8, 0].map((by) => (value >> by) & 255));

describe('a server that is not PostgreSQL, or is hostile', () => {
  const ODD: [string, Buffer | string][] = [
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['nothing and an end', ''],
    ['an error without an end', message('E', 'SFATAL')],
    ['an error without fields', message('E', '')],
    ['an error whose last field has no end', message('E', 'SFATAL\0Moops')],
    ['a notice without an end', Buffer.concat([OK, message('N', 'SNOTICE\0Mx')])],
    ['an error of an unknown code', message('E', 'SFATAL\0C\u0001\u0002<b>\0Mdb.example.com says secret\0\0')],
    ['a message that is longer than anything', message('S', 'x', 0xffffffff)],
    ['a message that is shorter than its head', message('S', '', 0)],
    ['an unknown message', message('!', 'x')],
    ['an unknown way to log in', message('R', int32(7))],
    ['a way to log in without its number', message('R', '')],
    ['SASL without mechanisms', message('R', Buffer.concat([int32(10), Buffer.from('\0')]))],
    ['SASL with an unknown mechanism', message('R', Buffer.concat([int32(10), Buffer.from('PLAIN\0\0')]))],
    ['SASL that goes on before it began', message('R', Buffer.concat([int32(11), Buffer.from('r=x,s=eA==,i=4096')]))],
    ['SASL that ends before it began', message('R', Buffer.concat([int32(12), Buffer.from('v=x')]))],
    ['rows that nobody asked for', Buffer.concat([LOGGED_IN, message('T', int16(0)), message('D', int16(0))])],
    ['a row of minus one column', Buffer.concat([LOGGED_IN, message('D', int16(-1))])],
    ['a row that is cut off', Buffer.concat([LOGGED_IN, message('T', int16(9)), message('D', int16(9))])],
    ['a column without a name', Buffer.concat([LOGGED_IN, message('T', Buffer.concat([int16(1), Buffer.from('x')]))])],
    ['ready again and again', Buffer.concat([LOGGED_IN, ...Array(1000).fill(READY)])],
    ['a copy', Buffer.concat([LOGGED_IN, message('G', Buffer.concat([Buffer.from([0]), int16(0)]))])],
    ['an error after the login', Buffer.concat([LOGGED_IN, message('E', 'SERROR\0C42000\0Mno\0\0')])],
    [
      'no end',
      Buffer.concat([
        LOGGED_IN,
        message('S', `a\0${'x'.repeat(1_000_000)}\0`),
        ...Array(20).fill(message('S', `a\0${'x'.repeat(1_000_000)}\0`)),
      ]),
    ],
  ];

  test.each(ODD)('%s: a failure at once, with our message', async (_what, answer) => {
    const port = await serve((socket) => {
      socket.once('data', () => {
        socket.end(answer);
      });
    });
    const said = await messageOf(at(port));
    expect(said).toMatch(/^(The (server|database|login|connection)|no$)/);
    expect(said).not.toMatch(/secret|127\.0\.0\.1|example/);
  });

  test.each(ODD)('%s, after the login: the same', async (_what, answer) => {
    const port = await serve((socket) => {
      socket.once('data', () => {
        socket.write(LOGGED_IN);
        socket.once('data', () => socket.end(answer));
      });
    });
    const said = await messageOf(at(port));
    expect(said).not.toMatch(/took longer/);
    expect(said).not.toMatch(/secret|127\.0\.0\.1/);
  });

  test.each(['X', 'SX', 'NN', `N${OK.toString('latin1')}`, 'E', ''])(
    'what it answers to the wish for TLS is not S or N but %j',
    async (answer) => {
      const port = await serve((socket) => {
        socket.once('data', () => {
          if (answer === '') socket.end();
          else socket.write(Buffer.from(answer, 'latin1'));
        });
      });
      expect(await messageOf(at(port, ''))).toMatch(/does not answer as PostgreSQL does|closed it/);
    },
  );

  test.each([
    ['never answers', () => {}],
    ['never ends a message', (socket: Socket) => socket.write(message('S', 'x', 1000))],
    ['sends a little now and then', (socket: Socket) => socket.write(OK)],
  ])('one that %s fails at the time limit', async (_what, answer) => {
    const port = await serve((socket) => void socket.once('data', () => answer(socket)));
    expect(await messageOf(at(port), 1)).toBe('The query was cancelled: it took longer than 1 s.');
  });

  test('a server that asks for an expensive proof does not get it', async () => {
    const port = await serve((socket) => {
      socket.once('data', () => {
        socket.write(message('R', Buffer.concat([int32(10), Buffer.from('SCRAM-SHA-256\0\0')])));
        socket.once('data', (reply: Buffer) => {
          const nonce = /r=([^,]+)$/.exec(reply.toString())?.[1];
          socket.write(
            message('R', Buffer.concat([int32(11), Buffer.from(`r=${nonce}x,s=c2FsdHNhbHQ=,i=2000000000`)])),
          );
        });
      });
    });
    const said = await messageOf(at(port));
    expect(said).toBe('The login to the database failed: check the password of the connection.');
  });
});

describe('rows that PostgreSQL would never send', () => {
  const JSON_TYPE = 114;
  const TEXT_ARRAY = 1009;
  const escapes = '\\"'.repeat(500_000);

  test.each([
    ['JSON whose text does not end', JSON_TYPE, `"${escapes}`],
    ['an array whose text does not end', TEXT_ARRAY, `{"${escapes}`],
    ['bounds that hide where a text begins', TEXT_ARRAY, `["={"${escapes}`],
  ])('%s: stays text, and is read quickly', async (_what, typeId, value) => {
    const ms = await mainThreadMs(() => expect(rowReader([{ name: 'a', typeId }])([value])).toEqual({ a: value }));
    expect(ms).toBeLessThan(1000);
  });

  test('the maximum of columns with one name is renamed quickly', async () => {
    const columns = Array(32_767).fill({ name: 'a', typeId: 25 });
    let row = {};
    const ms = await mainThreadMs(() => {
      row = rowReader([...columns, { name: 'a_2', typeId: 25 }])([]);
    });
    expect(ms).toBeLessThan(1000);
    expect(Object.keys(row)).toHaveLength(32_768);
    expect(row).toMatchObject({ a: null, a_2: null, a_3: null, a_32768: null });
  });
});
