import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestTurns } from '../../../server/api/requestTurns.ts';

test('without a backlog a request begins at once, also in the next turn of the loop', async () => {
  const turns = new RequestTurns();
  for (let turn = 0; turn < 3; turn += 1) {
    expect(turns.take('a')).toBeUndefined();
    await nextTurn();
    await nextTurn();
  }
});

test('requests that come together begin a few in each turn of the loop, and workspaces take turns', async () => {
  const turns = new RequestTurns();
  const order: string[] = [];
  const begin = (workspaceId: string) =>
    (turns.take(workspaceId) ?? Promise.resolve()).then(() => void order.push(workspaceId));
  const busy = Array.from({ length: 40 }, () => begin('busy'));
  const others = [begin('b'), begin('c'), begin('b')];
  await nextTurn();
  const first = order.length;
  expect(first).toBeLessThan(5);
  await Promise.all(others);
  // One of each other workspace before each of theirs.
  expect(order.slice(0, first + 6).filter((workspaceId) => workspaceId !== 'busy')).toEqual(['b', 'c', 'b']);
  expect(order.length).toBeLessThan(14);
  await Promise.all(busy);
  expect(order.filter((workspaceId) => workspaceId === 'busy')).toHaveLength(40);
  await nextTurn();
  expect(turns.take('busy')).toBeUndefined();
});
