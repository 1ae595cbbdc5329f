import { ownTurn } from '../../core/ownTurn.ts';

test('each caller goes on in a turn of its own, in the order of the calls', async () => {
  const seen: string[] = [];
  const turns = (async () => {
    for (let turn = 1; turn <= 4; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`turn ${turn}`);
    }
  })();
  await Promise.all([turns, ...['a', 'b', 'c'].map((name) => ownTurn().then(() => seen.push(name)))]);
  expect(seen).toEqual(['turn 1', 'a', 'turn 2', 'b', 'turn 3', 'c', 'turn 4']);
  await ownTurn();
});
