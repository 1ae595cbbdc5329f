import { everyJob, poolPlaces } from '../../jobs/everyJob.ts';
import { WorkspaceTurns } from '../../jobs/workspaceTurns.ts';

test.each(['turns', 'channels'] as const)(
  'in the pool %s, where jobs wait, two greedy workspaces leave a place to each of four others',
  (pool) => {
    const turns = new WorkspaceTurns(poolPlaces(64)[pool]);
    const greedy = ['one', 'two'];
    for (let round = 0; round < 64; round += 1) {
      turns.startRound();
      for (const workspace of greedy) if (!turns.excluded().includes(workspace)) turns.started(workspace);
    }
    const others = Array.from({ length: 4 }, (_, place) => `other ${place}`);
    turns.startRound();
    for (const other of others) {
      expect([turns.free > 0, turns.excluded().includes(other)]).toEqual([true, false]);
      turns.started(other);
    }
  },
);

test('what is received and sent over channels takes no places of turns', () => {
  const pools = Object.fromEntries(everyJob.map(({ name, options }) => [name, options.pool]));
  expect(pools).toMatchObject({ 'take-inbound': 'channels', 'deliver-message': 'channels', 'answer-inbound': 'turns' });
});

test('a mail server that is slow delays nothing but mails: they have places of their own', () => {
  expect(everyJob.filter(({ options }) => options.pool === 'mail').map(({ name }) => name)).toEqual(['send-mail']);
  const turns = new WorkspaceTurns(poolPlaces(64).mail);
  for (let round = 0; round < 64; round += 1) {
    turns.startRound();
    if (!turns.excluded().includes('greedy')) turns.started('greedy');
  }
  expect(turns.free).toBeGreaterThan(0);
});
