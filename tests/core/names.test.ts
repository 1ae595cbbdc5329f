import { once } from 'node:events';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NameResolver, type NameResolverOptions } from '../../core/outgoing/names.ts';
import { createOutgoingClient, OutgoingFailed, OutgoingRefused } from '../../core/outgoing.ts';
import { until } from '../support/poll.ts';
import { type NameAnswer, NameServer } from '../support/servers/nameServer.ts';
import { failureOf, LIMITS, PRIVATE } from './outgoingServers.ts';

/** A query is sent again within this time unless it was cancelled: after two seconds. */
const RESENT_MS = 3500;
const answers = new Map<string, NameAnswer>();
let server: NameServer;
let address: string;
let folder: string;
let hostsFile: string;
let resolvConf: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-names-'));
  [hostsFile, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
});
beforeEach(async () => {
  answers.clear();
  server = new NameServer((name, type) => answers.get(`${type} ${name}`) ?? answers.get(name) ?? 'unknown');
  address = await server.start();
  await writeFile(
    hostsFile,
    '127.0.0.1 localhost\n192.0.2.7 printer Printer.example.com # upstairs\n2001:db8::7 printer\n',
  );
  await writeFile(resolvConf, '');
});
afterEach(() => server.stop());
afterAll(() => rm(folder, { recursive: true }));

const resolver = (options: NameResolverOptions = {}) =>
  new NameResolver({ servers: [address], hostsFile, resolvConf, ...options });
const anyone = () => ({ workspaceId: 'a', signal: new AbortController().signal });
const addresses = async (names: NameResolver, host: string) =>
  (await names.lookup(host, anyone())).map((each) => each.address);

describe('a name that exists', () => {
  test('has all its addresses, those of version 4 first', async () => {
    answers.set('both.example.com', ['2001:db8::1', '192.0.2.1', '192.0.2.2']);
    expect(await resolver().lookup('both.example.com', anyone())).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
    answers.set('six.example.com', ['2001:db8::1']);
    expect(await addresses(resolver(), 'six.example.com')).toEqual(['2001:db8::1']);
  });

  test('does not wait for a name server that is silent about the other version', async () => {
    answers.set('half.example.com', ['192.0.2.1']).set('AAAA half.example.com', 'silence');
    expect(await addresses(resolver({ deadlineMs: 60_000 }), 'half.example.com')).toEqual(['192.0.2.1']);
    // A silent server is asked three times before it is given up.
    expect(server.queries.filter((query) => query.startsWith('AAAA')).length).toBeLessThan(3);
  });

  test('is asked for once while its answer holds, by all who ask', async () => {
    answers.set('once.example.com', ['192.0.2.1']);
    const names = resolver();
    await Promise.all([addresses(names, 'once.example.com'), addresses(names, 'once.example.com')]);
    await names.lookup('once.example.com', { ...anyone(), workspaceId: 'b' });
    expect(server.queries.toSorted()).toEqual(['A once.example.com', 'AAAA once.example.com']);
  });

  test('is asked for again when its answer no longer holds', async () => {
    server.ttl = 0;
    answers.set('moved.example.com', ['192.0.2.1']);
    const names = resolver();
    expect(await addresses(names, 'moved.example.com')).toEqual(['192.0.2.1']);
    answers.set('moved.example.com', ['192.0.2.2']);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await addresses(names, 'moved.example.com')).toEqual(['192.0.2.2']);
  });
});

describe('names that the machine knows itself', () => {
  test('those of the hosts file are not asked for', async () => {
    expect(await addresses(resolver(), 'printer')).toEqual(['192.0.2.7', '2001:db8::7']);
    expect(await addresses(resolver(), 'PRINTER.example.com.')).toEqual(['192.0.2.7']);
    expect(server.queries).toEqual([]);
  });

  test('localhost and the names below it are loopback, whatever a name server says', async () => {
    answers.set('app.localhost', ['192.0.2.1']);
    expect(await addresses(resolver(), 'localhost')).toEqual(['127.0.0.1']);
    expect(await addresses(resolver({ hostsFile: '/nowhere' }), 'localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await addresses(resolver(), 'app.localhost')).toEqual(['127.0.0.1', '::1']);
    expect(server.queries).toEqual([]);
  });

  test('a change of the hosts file is seen', async () => {
    const names = resolver();
    expect(await addresses(names, 'printer')).toContain('192.0.2.7');
    await writeFile(hostsFile, '192.0.2.8 printer\n');
    await utimes(hostsFile, 1, 1);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await addresses(names, 'printer')).toEqual(['192.0.2.8']);
  });

  test('short names are completed as resolv.conf says', async () => {
    await writeFile(
      resolvConf,
      'nameserver 192.0.2.53\nsearch team.svc.cluster.local svc.cluster.local\noptions ndots:2\n',
    );
    answers.set('tools.svc.cluster.local', ['10.0.0.9']).set('api.example.com', ['192.0.2.1']);
    const names = resolver();
    expect(await addresses(names, 'tools')).toEqual(['10.0.0.9']);
    expect(await addresses(names, 'api.example.com')).toEqual(['192.0.2.1']);
    expect(server.queries.filter((query) => query.startsWith('A '))).toEqual([
      'A tools.team.svc.cluster.local',
      'A tools.svc.cluster.local',
      'A api.example.com',
    ]);
    expect(await failureOf(addresses(names, 'tools.'))).toBeInstanceOf(OutgoingFailed);
  });
});

describe('a name that does not resolve', () => {
  test('fails with a sentence that names it, and is not asked for again for a moment', async () => {
    answers.set('broken.example.com', 'failure').set('circle.example.com', 'alias');
    const names = resolver({ failureMs: 60_000 });
    for (const host of ['absent.example.com', 'broken.example.com', 'circle.example.com']) {
      const error = await failureOf(addresses(names, host));
      expect(error).toMatchObject({ reason: 'dns', message: expect.stringContaining(`${host} could not be resolved`) });
      const asked = server.queries.length;
      await failureOf(names.lookup(host, { ...anyone(), workspaceId: 'b' }));
      expect(server.queries).toHaveLength(asked);
    }
  });

  test('fails at once where it is longer than a name can be', async () => {
    const error = await failureOf(addresses(resolver(), `${'a.'.repeat(200)}example.com`));
    expect(error).toMatchObject({ reason: 'dns' });
    expect(server.queries).toEqual([]);
  });

  test('is asked for again after that moment', async () => {
    const names = resolver({ failureMs: 1 });
    await failureOf(addresses(names, 'late.example.com'));
    answers.set('late.example.com', ['192.0.2.1']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await addresses(names, 'late.example.com')).toEqual(['192.0.2.1']);
  });

  test('fails at the deadline where no name server answers', async () => {
    answers.set('slow.example.com', 'silence');
    const error = await failureOf(addresses(resolver({ deadlineMs: 200 }), 'slow.example.com'));
    expect(error).toMatchObject({ reason: 'dns', message: expect.stringContaining('no name server answered in time') });
    // Before a second attempt.
    expect(server.queries).toHaveLength(2);
  });

  test('ends with the call that waits for it, and asks no more', async () => {
    answers.set('slow.example.com', 'silence');
    const names = resolver({ deadlineMs: 60_000 });
    const [one, two] = [new AbortController(), new AbortController()];
    const calls = [one, two].map(({ signal }) =>
      failureOf(names.lookup('slow.example.com', { workspaceId: 'a', signal })),
    );
    const reason = new Error('stopped');
    await until(() => server.queries.length === 2);
    one.abort(reason);
    expect(await calls[0]).toBe(reason);
    two.abort(reason);
    expect(await calls[1]).toBe(reason);
    const asked = server.queries.length;
    await new Promise((resolve) => setTimeout(resolve, RESENT_MS));
    expect(server.queries).toHaveLength(asked);
    // A look-up that was stopped says nothing about the name.
    answers.set('slow.example.com', ['192.0.2.1']);
    expect(await addresses(names, 'slow.example.com')).toEqual(['192.0.2.1']);
  });
});

describe('workspaces', () => {
  test('one with many slow names does not keep another one waiting', async () => {
    answers.set('quick.example.com', ['192.0.2.1']);
    const stop = new AbortController();
    const names = resolver({ deadlineMs: 60_000 });
    for (let each = 0; each < 400; each += 1) answers.set(`slow-${each}.example.com`, 'silence');
    const slow = Array.from({ length: 400 }, (_, each) =>
      failureOf(names.lookup(`slow-${each}.example.com`, { workspaceId: 'slow', signal: stop.signal })),
    );
    const found = await names.lookup('quick.example.com', { ...anyone(), workspaceId: 'quick' });
    expect(found).toHaveLength(1);
    // Sixteen look-ups of one workspace are under way; the others wait and ask nothing.
    expect(new Set(server.queries.filter((query) => query.includes('slow'))).size).toBeLessThanOrEqual(32);
    stop.abort(new Error('stopped'));
    await Promise.all(slow);
  });

  test('one with more look-ups than may wait is told so', async () => {
    const stop = new AbortController();
    const names = resolver({ deadlineMs: 60_000 });
    const calls = Array.from({ length: 600 }, (_, each) => {
      answers.set(`slow-${each}.example.com`, 'silence');
      return failureOf(names.lookup(`slow-${each}.example.com`, { workspaceId: 'slow', signal: stop.signal }));
    });
    expect((await calls.at(-1))?.message).toMatch(/too many look-ups of this workspace/);
    stop.abort(new Error('stopped'));
    await Promise.all(calls);
  });
});

describe('the guarded client', () => {
  let site: http.Server;
  let port: number;
  beforeAll(async () => {
    site = http.createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
    await once(site, 'listening');
    port = (site.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => site.close(resolve)));

  test('checks remembered addresses at each call', async () => {
    answers.set('inside.example.com', ['127.0.0.1']);
    const names = resolver();
    const client = createOutgoingClient({ lookup: names.lookup });
    expect((await client.guardedFetch(`http://inside.example.com:${port}/`, PRIVATE)).status).toBe(200);
    const refused = failureOf(client.guardedFetch(`http://inside.example.com:${port}/`, LIMITS));
    expect(await refused).toBeInstanceOf(OutgoingRefused);
    expect(server.queries).toHaveLength(2);
  });

  test('refuses a name of which one address is forbidden, of either version', async () => {
    answers.set('mixed.example.com', ['93.184.216.34', '::1']);
    const client = createOutgoingClient({ lookup: resolver().lookup });
    expect(await failureOf(client.guardedFetch('http://mixed.example.com/', LIMITS))).toBeInstanceOf(OutgoingRefused);
  });

  test('ends the look-up with its own time limit', async () => {
    answers.set('slow.example.com', 'silence');
    const client = createOutgoingClient({ lookup: resolver({ deadlineMs: 60_000 }).lookup });
    const call = failureOf(client.guardedFetch('http://slow.example.com/', { ...PRIVATE, timeoutMs: 1000 }));
    await until(() => server.queries.length === 2);
    expect(await call).toMatchObject({ reason: 'timeout' });
    const asked = server.queries.length;
    await new Promise((resolve) => setTimeout(resolve, RESENT_MS));
    expect(server.queries).toHaveLength(asked);
  });
});
