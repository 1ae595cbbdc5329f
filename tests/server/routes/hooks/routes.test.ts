import { connect } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import supertest from 'supertest';
import { fault } from '../../../../core/errors.ts';
import { newId } from '../../../../core/ids.ts';
import { addressHash, newAddressSecret } from '../../../../core/publicAddress.ts';
import {
  insertPublicAddress,
  removePublicAddresses,
  updatePublicAddressEnd,
} from '../../../../db/queries/workspaces/publicAddresses.ts';
import { RequestTurns } from '../../../../server/api/requestTurns.ts';
import { UnderWay } from '../../../../server/api/underWay.ts';
import { UnreadAnswers } from '../../../../server/api/unread.ts';
import { createHttpServer } from '../../../../server/httpServer.ts';
import { AddressBook } from '../../../../server/routes/hooks/addressBook.ts';
import type { AddressedRequest, Hook, HookReply } from '../../../../server/routes/hooks/hook.ts';
import { hookRoutes } from '../../../../server/routes/hooks/routes.ts';
import { createTelemetry } from '../../../../server/telemetry.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';
import { poll } from '../../../support/poll.ts';

const MAX_BYTES = 1_000;
const PER_MINUTE = 30;
const clock = new TestClock();
const lines: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const telemetry = createTelemetry(logger, {
  readLateness: async () => new Map(),
  readChannelProblems: async () => [],
  readLedgerDifferences: () => 0,
});

/** What the hook does next; by default it tells what it was given. */
let act: (request: AddressedRequest) => Promise<HookReply>;
const tell = async ({ workspaceId, targetId, body, search }: AddressedRequest) => ({
  status: 202,
  body: { workspaceId, targetId, text: body.toString(), search },
});

const hooks: Hook[] = [
  {
    name: 'testHook',
    method: 'POST',
    path: '/tests/{address}',
    kind: 'automation',
    notFound: 'AUTOMATION_NOT_FOUND',
    maxBytes: MAX_BYTES,
    requestsPerMinute: PER_MINUTE,
    handle: (request) => act(request),
  },
  {
    name: 'sharedHook',
    method: 'POST',
    path: '/shared',
    kind: undefined,
    maxBytes: MAX_BYTES,
    handle: async ({ body }) => ({ status: 200, text: body.toString() }),
  },
];

let app: TestApp;
let http: ReturnType<typeof createHttpServer>;
let port: number;
let serving = true;
beforeAll(async () => {
  app = await startTestApp({ clock });
  const { database } = app.database;
  const routes = hookRoutes(
    {
      forWorkspace: database.forWorkspace,
      system: database.system,
      runtime: app.service.runtime,
      jobs: app.service.queue,
      clock,
      logger,
      addresses: new AddressBook(database.keys, clock),
      requestTurns: new RequestTurns(),
      underWay: new UnderWay(),
      unread: new UnreadAnswers(),
      telemetry,
      serving: () => serving,
      bodyMs: 300,
    },
    hooks,
  );
  http = createHttpServer();
  http.handle(express().use('/hooks', routes));
  port = await http.listen(0, '127.0.0.1');
});
afterAll(async () => {
  const closed = http.close();
  http.cut();
  await closed;
  await app.close();
});
beforeEach(() => {
  act = tell;
  serving = true;
  lines.length = 0;
});

async function makeAddress(kind: 'automation' | 'channel' = 'automation') {
  const secret = newAddressSecret();
  const { workspaceId } = app.workspace;
  const targetId = newId();
  const row = { address_hash: addressHash(secret), workspace_id: workspaceId, kind, target_id: targetId };
  const db = app.database.database.forWorkspace(workspaceId);
  await insertPublicAddress(db, row);
  return { secret, workspaceId, targetId, db };
}

const post = (secret: string) => supertest(`http://127.0.0.1:${port}`).post(`/hooks/tests/${secret}`);

test('a request reaches the workspace of its address, with the bytes of its body', async () => {
  const { secret, workspaceId, targetId } = await makeAddress();
  const { status, body, headers } = await post(`${secret}?a=%20b`).type('text/plain').send('{"a": 1}\n');
  expect(status).toBe(202);
  expect(body).toEqual({ workspaceId, targetId, text: '{"a": 1}\n', search: 'a=%20b' });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
});

test('a shared hook has no address', async () => {
  const { status, text } = await supertest(`http://127.0.0.1:${port}`).post('/hooks/shared').type('text').send('pong');
  expect([status, text]).toEqual([200, 'pong']);
});

describe('404', () => {
  test.each([
    ['a secret that nobody has', () => newAddressSecret()],
    ['a part of a secret', (secret: string) => secret.slice(1)],
    ['another case', (secret: string) => secret.toUpperCase()],
    ['an id', () => newId()],
    ['something else', () => '%27%20or%201=1'],
  ])('%s', async (_what, spoil) => {
    const { secret } = await makeAddress();
    const { status, body } = await post(spoil(secret)).send({});
    expect([status, body.code]).toEqual([404, 'AUTOMATION_NOT_FOUND']);
  });

  test('an address of another kind', async () => {
    const { secret } = await makeAddress('channel');
    expect((await post(secret).send({})).body.code).toBe('AUTOMATION_NOT_FOUND');
  });

  test('an address that was taken away, at once', async () => {
    const { secret, workspaceId, targetId, db } = await makeAddress();
    expect((await post(secret).send({})).status).toBe(202);
    await removePublicAddresses(db, workspaceId, targetId);
    expect((await post(secret).send({})).status).toBe(404);
  });

  test('an address whose time is over', async () => {
    const { secret, workspaceId, targetId, db } = await makeAddress();
    await updatePublicAddressEnd(db, workspaceId, targetId, new Date(clock.now().getTime() + 1_000));
    expect((await post(secret).send({})).status).toBe(202);
    clock.advance(1_001);
    expect((await post(secret).send({})).status).toBe(404);
  });

  test('an address of a workspace that was deleted', async () => {
    const { secret, workspaceId } = await makeAddress();
    const workspaces = app.database.database.system.updateTable('workspaces').where('id', '=', workspaceId);
    await workspaces.set({ deleted_at: clock.now() }).execute();
    expect((await post(secret).send({})).status).toBe(404);
    await workspaces.set({ deleted_at: null }).execute();
  });

  test('another path', async () => {
    const { status, body } = await supertest(`http://127.0.0.1:${port}`).post('/hooks/others/1').send({});
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

test('405 for another method, without a look at the address', async () => {
  const { status, body, headers } = await supertest(`http://127.0.0.1:${port}`).get(
    `/hooks/tests/${newAddressSecret()}`,
  );
  expect([status, body.code, headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
});

test('400 for an address that is not UTF-8', async () => {
  expect((await post('%ff').send({})).body.code).toBe('VALIDATION_ERROR');
});

describe('the body', () => {
  test('413 when it is too large, announced or not', async () => {
    const { secret } = await makeAddress();
    const large = 'a'.repeat(MAX_BYTES + 1);
    expect((await post(secret).type('text').send(large)).body.code).toBe('PAYLOAD_TOO_LARGE');
    expect((await post(secret).type('text').send(large.slice(1))).status).toBe(202);
    const chunks = supertest(`http://127.0.0.1:${port}`)
      .post(`/hooks/tests/${secret}`)
      .set('Transfer-Encoding', 'chunked');
    for (let at = 0; at < 3; at += 1) chunks.write('a'.repeat(MAX_BYTES / 2));
    expect((await chunks).body.code).toBe('PAYLOAD_TOO_LARGE');
  });

  test('415 when it is packed', async () => {
    const { secret } = await makeAddress();
    const { body } = await post(secret).set('Content-Encoding', 'gzip').type('json').send('x');
    expect(body.code).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  test('408 when it does not arrive, and the connection ends', async () => {
    const { secret } = await makeAddress();
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.write(`POST /hooks/tests/${secret} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345`);
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"REQUEST_TIMEOUT"');
  });
});

describe('429', () => {
  test('more requests in a minute than the address may have; another address has its own', async () => {
    const { secret } = await makeAddress();
    const statuses: number[] = [];
    for (let at = 0; at < PER_MINUTE; at += 1) statuses.push((await post(secret).send({})).status);
    expect(new Set(statuses)).toEqual(new Set([202]));
    const { status, body, headers } = await post(secret).send({});
    expect([status, body.code, body.message]).toEqual([
      429,
      'RATE_LIMITED',
      'Too many requests to this address. Wait and try again.',
    ]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await post((await makeAddress()).secret).send({})).status).toBe(202);
  });

  test('more than 20 at a time', async () => {
    const { secret } = await makeAddress();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let waiting = 0;
    act = async () => {
      waiting += 1;
      await released;
      return { status: 202 };
    };
    const held = Array.from({ length: 20 }, () =>
      post(secret)
        .send({})
        .then(({ status }) => status),
    );
    await poll(
      () => waiting,
      (count) => count === 20,
    );
    const { status, headers } = await post(secret).send({});
    expect([status, headers['retry-after']]).toEqual([429, '1']);
    release();
    expect(new Set(await Promise.all(held))).toEqual(new Set([202]));
    expect((await post(secret).send({})).status).toBe(202);
  });

  test('more at a time than the workspace may have', async () => {
    const { secret, workspaceId } = await makeAddress();
    const workspaces = app.database.database.system.updateTable('workspaces').where('id', '=', workspaceId);
    await workspaces.set({ request_limit: 0 }).execute();
    const { body } = await post(secret).send({});
    await workspaces.set({ request_limit: null }).execute();
    expect([body.code, body.message]).toEqual([
      'RATE_LIMITED',
      expect.stringContaining('The workspace has 0 requests'),
    ]);
    expect((await post(secret).send({})).status).toBe(202);
  });
});

test('503 when the service is on its way out', async () => {
  serving = false;
  const { status, headers } = await post((await makeAddress()).secret).send({});
  expect([status, headers['retry-after']]).toEqual([503, '5']);
});

test('no outcome tells the secret: not the log, not the metrics, not the answer', async () => {
  const { secret } = await makeAddress();
  const acts = [
    tell,
    async () => {
      throw fault('OPERATION_LIMIT_REACHED');
    },
    async () => {
      throw new Error('Something broke.');
    },
  ];
  const seen: string[] = [];
  for (const each of acts) {
    act = each as typeof tell;
    const { status, text, headers } = await post(secret).send({});
    seen.push(`${status} ${text} ${JSON.stringify(headers)}`);
  }
  const { text } = await post(`${secret}%zz`).send({});
  seen.push(text, (await post(`${secret}/more`).send({})).text);
  await poll(
    () => lines.length,
    (count) => count >= 5,
  );
  expect(lines.join('')).toContain('Something broke.');
  expect(lines.join('')).toContain('"operationId":"testHook"');
  seen.push(await telemetry.registry.metrics(), ...lines);
  expect(seen.join('')).not.toContain(secret);
  expect(seen.join('')).not.toContain(addressHash(secret).toString('hex'));
});
