import { Places, PlacesTaken } from '../../core/places.ts';

/** Starts calls that run until they are told to end. */
function world(limits: { atOnce: number; ofOne: number; waitingOfOne: number }) {
  const places = new Places(limits);
  const running: { workspace: string; end: () => void }[] = [];
  const start = (workspace: string, signal?: AbortSignal) => {
    const call = places.run(
      workspace,
      () => new Promise<void>((resolve) => running.push({ workspace, end: resolve })),
      signal,
    );
    call.catch(() => undefined);
    return call;
  };
  const names = () => running.map(({ workspace }) => workspace).join('');
  const end = async (workspace: string) => {
    const at = running.findIndex((each) => each.workspace === workspace);
    running.splice(at, 1)[0]?.end();
    await new Promise(setImmediate);
  };
  return { start, names, end };
}

test('a workspace holds at most as many places as stay free, so another finds one at once', async () => {
  const { start, names } = world({ atOnce: 8, ofOne: 100, waitingOfOne: 100 });
  for (let each = 0; each < 20; each += 1) start('a');
  expect(names()).toBe('aaaa');
  start('b');
  start('b');
  start('b');
  expect(names()).toBe('aaaabb');
  start('c');
  expect(names()).toBe('aaaabbc');
});

test('a workspace never holds more places than its limit', () => {
  const { start, names } = world({ atOnce: 100, ofOne: 3, waitingOfOne: 100 });
  for (let each = 0; each < 20; each += 1) start('a');
  expect(names()).toBe('aaa');
});

test('waiting workspaces take turns', async () => {
  const { start, names, end } = world({ atOnce: 2, ofOne: 1, waitingOfOne: 100 });
  start('a');
  start('a');
  start('a');
  start('b');
  start('c');
  expect(names()).toBe('ab');
  await end('a');
  expect(names()).toBe('ba');
  await end('b');
  expect(names()).toBe('ac');
  await end('a');
  expect(names()).toBe('ca');
});

test('a call that is ended while it waits never runs, and leaves its place in the queue', async () => {
  const { start, names, end } = world({ atOnce: 2, ofOne: 1, waitingOfOne: 1 });
  const stop = new AbortController();
  start('a');
  const waiting = start('a', stop.signal);
  await expect(start('a')).rejects.toBeInstanceOf(PlacesTaken);
  const reason = new Error('stopped');
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  const next = start('a');
  await end('a');
  expect(names()).toBe('a');
  await end('a');
  await next;
});

test('work that fails gives its place back', async () => {
  const places = new Places({ atOnce: 2, ofOne: 1, waitingOfOne: 1 });
  await expect(places.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await places.run('a', async () => 'ran')).toBe('ran');
});
