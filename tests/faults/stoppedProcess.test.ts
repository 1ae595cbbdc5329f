import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { transcript } from '../http/messages/turns.ts';
import { stepsOf } from '../support/agents/runtimeAgents.ts';
import { adminQuery } from '../support/db/database.ts';
import { poll } from '../support/poll.ts';
import { adminJson } from '../support/scripts/admin.ts';
import { call, cleanUp, json } from './service.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

jest.setTimeout(180_000); // a process is stopped for ten seconds

/** A process trusts its leases for so long after it has renewed them (TRUST_MS of runtime/turn/turnRegistry.ts). A lease lasts twice as long. */
const TRUST_MS = 10_000;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(async () => {
  await cleanUp();
  await shop.close();
});

/** Where each turn is when its process is stopped. What its model or tool says then comes while it is. */
const POINTS = {
  'K1 pay': 'its model is asked',
  'K2 pay': 'a call is stored, and not made yet',
  'K3 pay': 'a tool is called',
  'K4 plain': 'its model is asked for the last time',
  'K5 wire': 'an approved call is marked as begun, and not made yet',
  'K6 plain': 'its answer is streamed',
};

test('a process that sleeps for longer than its leases and wakes up when others have its turns calls no tool, stores nothing and answers with an error', async () => {
  const { app, held, late, asked } = shop;
  const { db, apiKey } = app.workspace;
  const agentId = await shop.agent();
  const sleeper = await shop.startProcess({ GUILDHALL_ROLE: 'api' });
  const conversations = new Map<string, string>();
  const send = async (body: object, path = 'messages') => {
    const response = await call(sleeper.origin, apiKey, 'POST', `/agents/${agentId}/${path}`, {
      timeoutSeconds: 120,
      ...body,
    });
    return { status: response.status, text: await response.text() };
  };
  const { conversationId, pendingApprovals } = JSON.parse((await send({ content: 'K5 wire' })).text);
  // No process with background work is there yet to go on with it.
  await adminJson(app.database, 'approval', 'approve', pendingApprovals[0].publicId);

  const [asleep, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  for (const key of ['K1 model 0', 'K3 pay', 'K4 model 0', 'K6 model 0']) late.set(key, asleep.promise);
  late.set('K2 model 0', locked.promise);
  const answers = Object.keys(POINTS).flatMap((say) => {
    if (say === 'K5 wire') return [];
    return [
      send({ content: say, externalUserId: say.split(' ')[0] }, say.startsWith('K6') ? 'messages/stream' : undefined),
    ];
  });
  await poll(
    () => ['K1 model 0', 'K2 model 0', 'K3 pay', 'K4 model 0', 'K6 model 0'].filter((key) => !asked.includes(key)),
    (missing) => missing.length === 0,
    60_000,
  );
  const ids = await db.selectFrom('conversations').select(['id', 'external_user_id']).execute();
  for (const { id, external_user_id } of ids) if (id !== conversationId) conversations.set(external_user_id, id);
  conversations.set('K5', conversationId);
  const holder = new pg.Client({ connectionString: app.database.url, options: '-c role=guildhall_system' });
  await holder.connect();
  await holder.query(`begin; select from conversations where external_user_id = 'K2' for update;
    select from approvals where conversation_id = '${conversationId}' for update`);
  locked.resolve();
  answers.push(send({ content: 'approve', conversationId }));
  const waits = (text: string) =>
    adminQuery(
      `select from pg_stat_activity where datname = '${app.database.name}' and wait_event_type = 'Lock' and query like '%${text}%'`,
    );
  await poll(
    async () => [(await waits('insert into turn_steps')).length, (await waits('update "approvals"')).length],
    (counts) => counts.join() === '1,1',
    60_000,
  );
  sleeper.child.kill('SIGSTOP');
  const stoppedAt = performance.now();
  await holder.query('commit');
  await holder.end();
  await poll(
    async () => [
      (await stepsOf(app, conversations.get('K2') ?? '')).length,
      (await db.selectFrom('approvals').select('id').where('status', '=', 'running').execute()).length,
    ],
    (counts) => counts.join() === '2,1',
    60_000,
  );
  asleep.resolve();
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`.execute(
    db,
  );
  await shop.startProcess();
  await poll(
    async () =>
      (await db.selectFrom('turns').select('id').where('status', 'in', ['running', 'waiting']).execute()).length,
    (count) => count === 0,
    60_000,
  );
  const stored = async () =>
    Promise.all(
      [...conversations.values()].map(async (id) => ({
        said: await transcript(app, id),
        steps: await stepsOf(app, id),
      })),
    );
  const before = await stored();
  await sleep(Math.max(0, stoppedAt + TRUST_MS + 1 - performance.now()));
  sleeper.child.kill('SIGCONT');
  const ended = await Promise.all(answers);
  expect(ended.map(({ text }) => /"code":"(\w+)"/.exec(text)?.[1])).toEqual(ended.map(() => 'UNAVAILABLE'));
  expect(await stored()).toEqual(before);
  for (const [place, { said }] of before.entries()) {
    const name = [...conversations.keys()][place];
    expect([name, said.filter((text) => text.endsWith(`Done ${name}.`)).length]).toEqual([name, 1]);
  }
  // Of what was stored and not made nobody can know that.
  expect(shop.calls().toSorted()).toEqual(['K1 pay', 'K3 pay']);
  expect(held.size).toBe(0);
  // It is awake.
  const { messages } = await json(
    call(sleeper.origin, apiKey, 'POST', `/agents/${agentId}/messages`, { content: 'K7 pay' }),
  );
  expect(messages[0].content).toBe('Step 0.\n\nDone K7.');
});
