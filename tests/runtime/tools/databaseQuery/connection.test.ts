// Longer than most: spellings of connections, addresses, logins and TLS share one server with a certificate.
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { checkConnection, runDatabaseQuery } from '../../../../runtime/tools/databaseQuery/databaseQuery.ts';
import { adminQuery, createEmptyDatabase } from '../../../support/db/database.ts';
import { poll } from '../../../support/poll.ts';
import { trustedCertificate } from '../../../support/servers/tls.ts';

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let certificate: Awaited<ReturnType<typeof trustedCertificate>>;
const servers: net.Server[] = [];

/** Switches TLS on in the test cluster; connections without it stay possible. */
async function setTls(on: boolean): Promise<void> {
  if (on) {
    for (const [name, text] of [
      ['cert', certificate.cert],
      ['key', certificate.key],
    ]) {
      await adminQuery(
        `copy (select unnest(string_to_array($pem$${text?.trim()}$pem$, E'\\n'))) to program 'umask 077; cat > guildhall-test.${name}'`,
      );
      await adminQuery(`alter system set ssl_${name}_file = 'guildhall-test.${name}'`);
    }
  }
  await adminQuery(on ? 'alter system set ssl = on' : 'alter system reset all');
  await adminQuery('select pg_reload_conf()');
  while ((await adminQuery<{ ssl: string }>('show ssl'))[0]?.ssl !== (on ? 'on' : 'off'));
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  certificate = await trustedCertificate();
  await setTls(true);
});

afterAll(async () => {
  for (const server of servers) server.close();
  certificate.forget();
  await setTls(false);
  await database.drop();
});

/** The database's address with parts of it replaced. */
function connection(
  change: Partial<Pick<URL, 'hostname' | 'port' | 'username' | 'password' | 'pathname' | 'search'>> = {},
): string {
  const url = new URL(database.url);
  return Object.assign(url, change).href;
}

/** Starts a server that the test implements. Returns its port. */
async function serve(serveOne: (socket: Socket) => void, host = '127.0.0.1'): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    serveOne(socket);
  });
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return String((server.address() as AddressInfo).port);
}

/** A man in the middle: ends TLS and forwards everything. `seen` is what it read of the client's messages. */
async function relay(host?: string): Promise<{ port: string; seen: Buffer[] }> {
  const seen: Buffer[] = [];
  const upstreamPort = Number(new URL(database.url).port);
  const port = await serve((socket) => {
    socket.once('data', () => {
      socket.write('S');
      const client = new tls.TLSSocket(socket, { isServer: true, key: certificate.key, cert: certificate.cert });
      const upstream = net.connect(upstreamPort, '127.0.0.1');
      for (const each of [client, upstream]) each.on('error', () => {});
      client.on('data', (chunk: Buffer) => seen.push(chunk));
      client.pipe(upstream);
      upstream.pipe(client);
    });
  }, host);
  return { port, seen };
}

function run(
  address: string,
  query = 'select 1 as one',
  options: Partial<Parameters<typeof runDatabaseQuery>[0]> = {},
) {
  return runDatabaseQuery({
    connection: address,
    query,
    maxRows: 10,
    timeoutSeconds: 10,
    inputs: {},
    allowPrivateNetwork: true,
    workspaceId: 'workspace',
    ...options,
  });
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    (value) => new Error(`no failure but ${JSON.stringify(value)}`),
    (reason: Error) => reason,
  );
  if (error.name !== 'ToolFailure') throw error;
  return error.message;
}

/** A query: whether its session is encrypted. */
const ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

describe('checkConnection', () => {
  test.each([
    'postgres://user:secret@db.example.com/sales',
    'postgresql://user@db.example.com:6543',
    'postgres://us%40er:p%2Fs%3A%25@192.0.2.7:5432/my%20db?sslmode=verify-full',
    'postgres://user:secret@[2001:db8::7]:5432/sales',
    'postgres://user:secret@db/sales?sslmode=require&channel_binding=require&application_name=x&connect_timeout=10',
    'postgres://user:secret@db/sales?options=-c%20search_path%3Dsales',
  ])('accepts %s', (text) => {
    expect(checkConnection(text)).toBeUndefined();
  });

  test.each([
    ['mysql://user:secret@db/sales', 'must begin with'],
    ['host=db user=user password=secret', 'must begin with'],
    ['postgres:user:secret@db', 'must begin with'],
    ['postgres://user:se#cret@db/sales', 'not a valid address'],
    ['postgres://user:secret@db:99999/sales', 'not a valid address'],
    ['postgres://user:secret@db1:5432,db2:5432/sales', 'not a valid address'],
    ['postgres://user:secret@db1,db2/sales', 'one host name'],
    ['postgres:///sales', 'no host'],
    ['postgres://user:secret@/sales', 'not a valid address'],
    ['postgres://user:secret@%2Fvar%2Frun%2Fpostgresql/sales', 'one host name'],
    ['postgres://user:secret@db%00.example.com/sales', 'one host name'],
    ['postgres://user:secret@dätenbank/sales', 'one host name'],
    ['postgres://user:secret@db:0/sales', 'port'],
    ['postgres://db/sales', 'no user'],
    ['postgres://:secret@db/sales', 'no user'],
    ['postgres://user:%zz@db/sales', 'percent-encoded'],
    ['postgres://us%00er:secret@db/sales', 'control character'],
    ['postgres://user:secret@db/sales%0d%0aFLUSHALL', 'control character'],
    ['postgres://user:secret@db/sales?options=%0a', 'control character'],
    ['postgres://user:secret@db/sales?host=127.0.0.1', 'host of the connection is not supported'],
    ['postgres://user:secret@db/sales?hostaddr=127.0.0.1', 'hostaddr'],
    ['postgres://user:secret@db/sales?port=22', 'port of the connection'],
    ['postgres://user:secret@db/sales?service=prod', 'service'],
    ['postgres://user:secret@db/sales?sslcert=/etc/passwd', 'sslcert'],
    ['postgres://user:secret@db/sales?sslkey=/etc/passwd', 'sslkey'],
    ['postgres://user:secret@db/sales?sslrootcert=/etc/passwd', 'sslrootcert'],
    ['postgres://user:secret@db/sales?passfile=/etc/passwd', 'passfile'],
    ['postgres://user:secret@db/sales?sslmode=no-verify', 'sslmode must be'],
    ['postgres://user:secret@db/sales?ssl=0', 'ssl of the connection'],
    ['postgres://user:secret@db/sales?sslmode=disable&sslmode=require', 'twice'],
    ['postgres://user:secret@db/sales?sslmode=disable&channel_binding=require', 'needs a TLS'],
    ['postgres://user:secret@db/sales?channel_binding=maybe', 'channel_binding'],
    ['postgres://user:secret@db/sales?connect_timeout=soon', 'connect_timeout'],
    ['postgres://user:secret@db/sales?__proto__=1', '__proto__'],
    ['postgres://user:secret@db/sales?%3Cscript%3E=1', 'A parameter'],
  ])('refuses %s', (text, why) => {
    expect(checkConnection(text)).toContain(why);
    expect(checkConnection(text)).not.toMatch(/secret|user@|sales/);
  });
});

describe('addresses', () => {
  const FORBIDDEN = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0.0.0.0',
    '0',
    'localhost',
    'localhost.',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[fe80::1]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '[fc00::1]',
    '224.0.0.1',
    '255.255.255.255',
  ];

  test.each(FORBIDDEN)('no byte reaches %s', async (host) => {
    let connections = 0;
    const port = await serve((socket) => {
      connections += 1;
      socket.destroy();
    }, '::');
    const message = await messageOf(
      run(`postgres://user:secret@${host}:${port}/sales`, 'select 1', { allowPrivateNetwork: false }),
    );
    expect(message).toMatch(
      /^The host of the connection (does not lead to an address that this service may call|could not be resolved)/,
    );
    expect(connections).toBe(0);
  });

  test.each(['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '[::ffff:169.254.169.254]', '0.0.0.0'])(
    'not even with private networks allowed: %s',
    async (host) => {
      expect(await messageOf(run(`postgres://user:secret@${host}/sales`))).toContain('does not lead to an address');
    },
  );

  test('the connection goes to the address that was checked', async () => {
    expect((await run(connection({ hostname: 'localhost' }))).rows).toEqual([{ one: 1 }]);
    expect(await messageOf(run('postgres://user:secret@nowhere.invalid/sales'))).toBe(
      'The host of the connection could not be resolved.',
    );
  });
});

describe('the login', () => {
  test.each<[string, Parameters<typeof connection>[0], string]>([
    ['a wrong password', { password: 'wrong' }, 'The database refused the login.'],
    ['an unknown user', { username: 'nobody-here' }, 'The database refused the login.'],
    ['no password', { password: '' }, 'The login to the database failed: check the password of the connection.'],
    [
      'an unknown database',
      { pathname: '/nothing-here' },
      'The server has no database of the name that the connection gives.',
    ],
    ['a port that nobody listens to', { port: '1' }, 'The server of the connection refused it.'],
    [
      'settings that the server does not take',
      { search: '?options=-c%20nothing.here' },
      'The database refused the connection (SQLSTATE 42601).',
    ],
  ])('%s: the message names neither host nor user', async (_what, change, message) => {
    expect(await messageOf(run(connection(change)))).toBe(message);
  });

  test('ignores the environment variables of this service', async () => {
    const { password, username } = new URL(database.url);
    const before = { ...process.env };
    Object.assign(process.env, {
      PGPASSWORD: password,
      PGUSER: username,
      PGOPTIONS: '-c application_name=leaked',
      PGSSLMODE: 'disable',
      PGAPPNAME: 'leaked',
    });
    try {
      expect(await messageOf(run(connection({ password: '' })))).toContain('check the password');
      const name = "select current_setting('application_name') as name";
      expect((await run(connection(), name)).rows).toEqual([{ name: 'guildhall' }]);
      expect(
        (
          await run(
            connection({ search: '?application_name=mine&options=-c%20search_path%3Dmine' }),
            `${name}, current_setting('search_path') as path`,
          )
        ).rows,
      ).toEqual([{ name: 'mine', path: 'mine' }]);
    } finally {
      process.env = before;
    }
  });
});

describe('TLS', () => {
  test.each([
    ['', true],
    ['?sslmode=prefer', true],
    ['?sslmode=disable', false],
    ['?sslmode=require', true],
    ['?sslmode=verify-ca', true],
    ['?sslmode=verify-full', true],
    ['?sslmode=require&channel_binding=require', true],
  ])('%s: encrypted %s', async (search, ssl) => {
    expect((await run(connection({ search }), ENCRYPTED)).rows).toEqual([{ ssl }]);
    expect((await run(connection({ search, hostname: 'localhost' }), ENCRYPTED)).rows).toEqual([{ ssl }]);
  });

  test('verify-full needs the host name in the certificate, verify-ca does not', async () => {
    const { port } = await relay('127.0.0.2');
    const to = (search: string) => run(connection({ hostname: '127.0.0.2', port, search }));
    expect((await to('?sslmode=verify-ca')).rows).toEqual([{ one: 1 }]);
    expect(await messageOf(to('?sslmode=verify-full'))).toBe(
      'No secure connection to the database could be made (ERR_TLS_CERT_ALTNAME_INVALID).',
    );
  });

  test('an untrusted certificate is enough for require, but not for verify-ca and verify-full', async () => {
    certificate.forget();
    try {
      expect((await run(connection({ search: '?sslmode=require' }), ENCRYPTED)).rows).toEqual([{ ssl: true }]);
      for (const mode of ['verify-ca', 'verify-full']) {
        expect(await messageOf(run(connection({ search: `?sslmode=${mode}` })))).toMatch(
          /^No secure connection to the database could be made \(\w*SELF_SIGNED\w*\)\.$/,
        );
      }
    } finally {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificate.cert]);
    }
  });

  test('channel_binding=require detects a man in the middle, who learns nothing', async () => {
    const { port, seen } = await relay();
    const { password } = new URL(database.url);
    expect((await run(connection({ port, search: '?sslmode=require' }))).rows).toEqual([{ one: 1 }]);
    seen.length = 0;
    expect(await messageOf(run(connection({ port, search: '?channel_binding=require' })))).toBe(
      'The database does not offer channel binding.',
    );
    expect(Buffer.concat(seen).toString()).not.toMatch(new RegExp(`${password}|SCRAM|n=`));
  });

  test('when the server has no TLS, only prefer connects without it', async () => {
    const { port: upstream } = new URL(database.url);
    const port = await serve((socket) => {
      const server = net.connect(Number(upstream), '127.0.0.1').on('error', () => {});
      socket.once('data', (first) => {
        if (first.length === 8) socket.write('N');
        else server.write(first);
        socket.pipe(server).pipe(socket);
      });
    });
    expect((await run(connection({ port }), ENCRYPTED)).rows).toEqual([{ ssl: false }]);
    expect((await run(connection({ port, search: '?sslmode=disable' }), ENCRYPTED)).rows).toEqual([{ ssl: false }]);
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect(await messageOf(run(connection({ port, search: `?sslmode=${mode}` })))).toContain('does not offer TLS');
    }
    expect(await messageOf(run(connection({ port, search: '?channel_binding=require' })))).toContain(
      'does not offer TLS',
    );
  });

  test('a query is cancelled over TLS too', async () => {
    const search = '?sslmode=verify-full';
    expect(await messageOf(run(connection({ search }), 'select pg_sleep(60)', { timeoutSeconds: 1 }))).toContain(
      'cancelled',
    );
    const running = `select count(*)::int as n from pg_stat_activity where datname = '${database.name}' and state = 'active'`;
    await poll(
      () => adminQuery<{ n: number }>(running),
      ([row]) => row?.n === 0,
    );
  });
});
