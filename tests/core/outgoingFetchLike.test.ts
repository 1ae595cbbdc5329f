import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { guardedFetchLike, OutgoingRefused } from '../../core/outgoing.ts';
import { base, failureOf, LIMITS, PRIVATE, routes, trapConnections, trapPort, useServers } from './outgoingServers.ts';

useServers();

/** The garbage collector, which node hides. */
function gc(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

describe('guardedFetchLike', () => {
  test('streams a response as fetch does', async () => {
    const gate = Promise.withResolvers<void>();
    routes.set('/stream', async (req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'x-got': String(req.headers['content-type']) });
      res.write('data: one\n\n');
      await gate.promise;
      res.end('data: two\n\n');
    });
    const response = await guardedFetchLike(PRIVATE)(`${base}/stream`, { method: 'POST', body: '{}' });
    expect(response).toMatchObject({ status: 200, ok: true, url: `${base}/stream` });
    expect(response.headers.get('x-got')).toBe('text/plain;charset=UTF-8');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('data: one\n\n');
    gate.resolve();
    expect((await reader?.read())?.value).toBe('data: two\n\n');
    expect((await reader?.read())?.done).toBe(true);
  });

  test('a reader that cancels at once closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    routes.set('/open', (_req, res) => {
      res.writeHead(200);
      res.write('x');
      res.on('close', () => closed.resolve());
    });
    const response = await guardedFetchLike(PRIVATE)(`${base}/open`);
    await response.body?.cancel();
    await closed.promise;
  });

  test('a reader that cancels while it waits for more closes the connection then, not at the time limit', async () => {
    const closed = Promise.withResolvers<void>();
    routes.set('/waiting', (_req, res) => {
      res.writeHead(200);
      res.write('x');
      res.on('close', () => closed.resolve());
    });
    const response = await guardedFetchLike({ ...PRIVATE, timeoutMs: 600_000 })(`${base}/waiting`);
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = reader?.read();
    await reader?.cancel();
    await Promise.all([closed.promise, waiting]);
  });

  test('an abort ends the body, also when nothing but the body is left of the call', async () => {
    const collect = gc();
    const closed = Promise.withResolvers<void>();
    routes.set('/aborted', (_req, res) => {
      res.writeHead(200);
      res.write('x');
      res.on('close', () => closed.resolve());
    });
    const controller = new AbortController();
    const { signal } = controller;
    const response = await guardedFetchLike({ ...PRIVATE, timeoutMs: 600_000 })(`${base}/aborted`, { signal });
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = failureOf(Promise.resolve(reader?.read()));
    for (let round = 0; round < 5; round += 1) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    controller.abort(new Error('enough'));
    expect((await waiting).message).toBe('enough');
    await closed.promise;
  });

  test('an abort leaves nothing of a call whose body nobody has begun to read', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    routes.set('/unread', (_req, res) => res.end('x'));
    const controller = new AbortController();
    const { signal } = controller;
    await guardedFetchLike({ ...PRIVATE, timeoutMs: 600_000 })(`${base}/unread`, { signal });
    expect(timers()).toBe(before + 1);
    controller.abort(new Error('enough'));
    expect(timers()).toBe(before);
  });

  test('keeps the guard, the size limit and the redirect modes', async () => {
    const like = guardedFetchLike(LIMITS);
    expect(await failureOf(like(`http://127.0.0.1:${trapPort}/`))).toBeInstanceOf(OutgoingRefused);
    expect(trapConnections).toBe(0);
    routes.set('/big', (_req, res) => res.end(Buffer.alloc(PRIVATE.maxBytes + 1)));
    routes.set('/moved', (_req, res) => res.writeHead(302, { location: '/big' }).end());
    routes.set('/none', (_req, res) => res.writeHead(204).end());
    const open = guardedFetchLike(PRIVATE);
    await expect(open(`${base}/big`)).rejects.toMatchObject({ reason: 'too_large' });
    const moved = await open(`${base}/moved`, { redirect: 'manual' });
    expect(moved.status).toBe(302);
    await moved.body?.cancel();
    await expect(open(`${base}/moved`, { redirect: 'error' })).rejects.toMatchObject({ reason: 'redirect' });
    expect((await open(`${base}/none`)).body).toBeNull();
  });
});
