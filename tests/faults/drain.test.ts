import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_PREFIX } from '../../generated/operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/poll.ts';
import {
  call,
  cleanUp,
  expectPromptExit,
  freshFolder,
  launch,
  type ServiceProcess,
  startService,
  untilPortClosed,
} from './service.ts';

/** A replica that stops goes on to serve until load balancers have seen that it does. */

const SECOND_SIGNAL_MS = 1_200;
const json = { 'Content-Type': 'application/json' };

let database: TestDatabase;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  key = (await database.seedWorkspace()).apiKey;
});
afterEach(cleanUp);
afterAll(() => database.drop());

async function start(more: NodeJS.ProcessEnv): Promise<ServiceProcess> {
  return startService({ DATABASE_URL: database.url, GUILDHALL_DATA_DIR: await freshFolder(), ...more });
}

const isReady = async (origin: string) => (await fetch(`${origin}/readyz`)).status === 200;
const untilNotReady = (origin: string) => until(async () => !(await isReady(origin)));

interface Answer {
  status: number;
  body: string;
  connection: string | undefined;
  reused: boolean;
}

/** A GET with the key; `agent` keeps connections. */
function get(url: string, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers: { 'X-Api-Key': key } }, async (answer: IncomingMessage) => {
      try {
        let body = '';
        for await (const chunk of answer.setEncoding('utf8')) body += chunk;
        const { statusCode: status = 0, headers } = answer;
        resolve({ status, body, connection: headers.connection, reused: asked.reusedSocket });
      } catch (error) {
        reject(error);
      }
    });
    asked.on('error', reject).end();
  });
}

describe('SIGTERM', () => {
  test('says at once that the service is not ready, and requests are served all the same', async () => {
    const service = await start({ GUILDHALL_DRAIN_SECONDS: '60' });
    const { child, origin } = service;
    const agents = `${origin}${API_PREFIX}/agents`;
    const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get(agents, keepAlive)).toMatchObject({ status: 200, connection: 'keep-alive', reused: false });
    // Its answer begins after the signal.
    const slow = request(agents, { method: 'POST', headers: { ...json, 'X-Api-Key': key, 'Content-Length': 15 } });
    const slowAnswer = once(slow, 'response') as Promise<[IncomingMessage]>;
    slow.write('{"name":');
    await until(async () => (await runningAt(origin)) === 1);

    child.kill('SIGTERM');
    await untilNotReady(origin);
    expect(await get(agents, keepAlive)).toMatchObject({ status: 200, connection: 'close', reused: true });
    expect(await get(agents, keepAlive)).toMatchObject({ status: 200, connection: 'close', reused: false });
    const written = await call(origin, key, 'POST', '/agents', { name: 'Late' });
    expect([written.status, written.headers.get('connection')]).toEqual([201, 'close']);
    const live = await fetch(`${origin}/livez`);
    expect([live.status, live.headers.get('connection')]).toEqual([200, 'close']);
    slow.end('"Slow"}');
    const [answer] = await slowAnswer;
    expect([answer.statusCode, answer.headers.connection]).toEqual([201, 'close']);
    answer.resume();
    keepAlive.destroy();
    await sleep(SECOND_SIGNAL_MS);
    child.kill('SIGTERM');
    await expectPromptExit(service);
  });

  test('closes the port after the time that is set', async () => {
    const { child, origin, ended } = await start({ GUILDHALL_DRAIN_SECONDS: '2' });
    const signalledAt = performance.now();
    child.kill('SIGTERM');
    await untilPortClosed(origin);
    expect(performance.now() - signalledAt).toBeGreaterThan(1_900);
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  test('twice at the same time is once: npm passes on what the terminal has sent to it and to us', async () => {
    const { child, origin } = await start({ GUILDHALL_DRAIN_SECONDS: '60' });
    child.kill('SIGTERM');
    await untilNotReady(origin);
    child.kill('SIGTERM');
    await sleep(300);
    expect(await isReady(origin)).toBe(false);
  });

  test('a second time ends the wait', async () => {
    const service = await start({ GUILDHALL_DRAIN_SECONDS: '60' });
    service.child.kill('SIGTERM');
    await untilNotReady(service.origin);
    await sleep(SECOND_SIGNAL_MS);
    service.child.kill('SIGTERM');
    await expectPromptExit(service);
  });

  test('ends a worker without a wait: nobody sends it requests', async () => {
    const service = await start({ GUILDHALL_DRAIN_SECONDS: '60', GUILDHALL_ROLE: 'worker' });
    service.child.kill('SIGTERM');
    await expectPromptExit(service);
  });
});

test('SIGINT ends the service without a wait: a person has sent it', async () => {
  const service = await start({ GUILDHALL_DRAIN_SECONDS: '60' });
  service.child.kill('SIGINT');
  await expectPromptExit(service);
});

test.each(['-1', '301', 'soon'])('GUILDHALL_DRAIN_SECONDS=%s is refused', async (value) => {
  const service = launch({ DATABASE_URL: database.url, GUILDHALL_DRAIN_SECONDS: value });
  expect((await service.ended).code).toBe(1);
  expect(service.output().stderr).toMatch(/^GUILDHALL_DRAIN_SECONDS must be a whole number from 0 to 300, [^\n]+\n$/);
});

describe('a rolling restart of two replicas', () => {
  const CLIENTS = 12;
  const POLL_MS = 50;

  /** A load balancer: asks each replica whether it is ready, and passes requests on to those that are, on connections that it keeps. */
  function startProxy(ports: readonly number[]) {
    const agents = new Map(ports.map((port) => [port, new Agent({ keepAlive: true })]));
    const ready = new Set<number>();
    const polls = ports.map((port) =>
      setInterval(async () => {
        const up = await isReady(`http://127.0.0.1:${port}`).catch(() => false);
        if (up) ready.add(port);
        else ready.delete(port);
      }, POLL_MS),
    );
    let turn = 0;
    /** Requests that each replica has not answered yet. */
    const running = new Map<number | undefined, number>();
    const server: Server = createServer(async (incoming, outgoing) => {
      // A replica whose database is slow says that it is not ready.
      await until(() => ready.size > 0);
      const choice = [...ready];
      const port = choice[turn++ % choice.length];
      running.set(port, (running.get(port) ?? 0) + 1);
      outgoing.once('close', () => running.set(port, (running.get(port) ?? 0) - 1));
      const options = { port, host: '127.0.0.1', path: incoming.url ?? '', headers: { 'X-Api-Key': key } };
      request({ ...options, agent: agents.get(port ?? 0) as Agent }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, { 'Content-Type': 'application/json' });
        answer.pipe(outgoing);
      })
        .on('error', (error: NodeJS.ErrnoException) => outgoing.writeHead(502).end(`${port} ${error.code}`))
        .end();
    });
    const stop = () => {
      for (const poll of polls) clearInterval(poll);
      for (const agent of agents.values()) agent.destroy();
      server.closeAllConnections();
      server.close();
    };
    /** Whether the replica gets no requests any more, and has answered those that it got. */
    const isIdle = (port: number | undefined) => port !== undefined && !ready.has(port) && !running.get(port);
    return { server, ready: ready as ReadonlySet<number>, isIdle, stop };
  }

  test('fails no request of twelve clients that keep their connections', async () => {
    const ports = await Promise.all([freePort(), freePort()]);
    const replica = (port: number) => start({ PORT: String(port), GUILDHALL_DRAIN_SECONDS: '60' });
    const replicas = await Promise.all(ports.map(replica));
    const proxy = startProxy(ports);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.server.address() as AddressInfo;
    const untilBothReady = () => until(() => proxy.ready.size === 2);
    await untilBothReady();

    const running = new AbortController();
    const failed: string[] = [];
    let served = 0;
    const clients = Array.from({ length: CLIENTS }, async (_, i) => {
      const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!running.signal.aborted) {
        const path = i % 2 === 0 ? '/health' : '/agents';
        const { status, body } = await get(`http://127.0.0.1:${port}${API_PREFIX}${path}`, keepAlive);
        if (status === 200) served += 1;
        else failed.push(`${path} ${status} ${body}`);
      }
      keepAlive.destroy();
    });
    for (const [i, stopped] of replicas.entries()) {
      const before = served;
      stopped.child.kill('SIGTERM');
      // The proxy has seen it long before a minute is over, however slow the machine is: the second signal ends the wait.
      await until(() => proxy.isIdle(ports[i]));
      await sleep(SECOND_SIGNAL_MS);
      stopped.child.kill('SIGTERM');
      expect(await stopped.ended).toEqual({ code: 0, signal: null });
      await replica(ports[i] ?? 0);
      await untilBothReady();
      expect(served).toBeGreaterThan(before);
    }
    running.abort();
    await Promise.all(clients);
    proxy.stop();
    expect(failed).toEqual([]);
  });
});

/** How many requests of the API run. */
async function runningAt(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(/^guildhall_http_requests_running (\d+)/m.exec(text)?.[1]);
}
