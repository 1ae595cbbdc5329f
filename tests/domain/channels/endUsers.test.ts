import type { Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import { selectIdentities } from '../../../db/queries/channels/endUsers.ts';
import { rememberFact, selectUserMemories } from '../../../db/queries/conversations/memories.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { resolveEndUser } from '../../../domain/channels/endUsers.ts';
import { readIdentities } from '../../../domain/channels/identities.ts';
import type { DB } from '../../../generated/db.ts';
import { addConnection, beginTalk, identity, personOf, type TestConnection } from '../../support/channels/people.ts';
import {
  createTestDatabase,
  type SeededWorkspace,
  type TestDatabase,
  untilOneWaits,
} from '../../support/db/database.ts';

let database: TestDatabase;
let workspace: SeededWorkspace;
let connection: TestConnection;
beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await database.seedWorkspace();
});
afterAll(() => database.drop());
beforeEach(async () => {
  connection = await addConnection(workspace);
});

const person = (...names: string[]) => personOf(workspace, connection, names);
const known = async (id: string) =>
  (await selectIdentities(workspace.db, workspace.workspaceId, id)).map(({ kind, value }) => `${kind}:${value}`).sort();
const people = () =>
  workspace.db.selectFrom('end_users').selectAll().where('connection_id', '=', connection.connectionId).execute();
const conversations = () =>
  workspace.db
    .selectFrom('conversations')
    .selectAll()
    .where('connection_id', '=', connection.connectionId)
    .where('deleted_at', 'is', null)
    .execute();
const said = async (conversationId: string) =>
  (
    await workspace.db
      .selectFrom('messages')
      .select('content')
      .where('conversation_id', '=', conversationId)
      .orderBy('seq')
      .execute()
  ).map(({ content }) => content);

/** Takes payloads as they come: a message of somebody without an open conversation begins one. */
async function talk(...payloads: string[][]): Promise<string[]> {
  const ids: string[] = [];
  for (const names of payloads) {
    const who = await person(...names);
    ids.push(who.openConversationId ?? (await beginTalk(workspace, connection, who)));
  }
  return ids;
}

describe('one person has one conversation', () => {
  test.each([
    ['a business-scoped id only', [['bsuid:US.123'], ['bsuid:US.123']], ['bsuid:US.123']],
    [
      'the number first, the business-scoped id later',
      [['wa_id:491511234567'], ['wa_id:491511234567', 'bsuid:US.123'], ['bsuid:US.123']],
      ['bsuid:US.123', 'wa_id:491511234567'],
    ],
    [
      'the hidden address first, the number later',
      [['lid:81@lid'], ['phone:5511987654321', 'lid:81@lid'], ['phone:5511987654321']],
      ['lid:81@lid', 'phone:5511987654321'],
    ],
    [
      'the number as the provider writes it, and as the account has it',
      [['phone:+49 (151) 123-4567'], ['wa_id:491511234567']],
      ['phone:491511234567', 'wa_id:491511234567'],
    ],
  ])('%s', async (_, payloads, identities) => {
    const ids = await talk(...payloads);
    expect(new Set(ids).size).toBe(1);
    const [only, ...others] = await people();
    expect(others).toEqual([]);
    expect(await known(only?.id ?? '')).toEqual(identities);
    expect(await conversations()).toHaveLength(1);
  });

  test('the external user id is that of the first identity, and stays', async () => {
    const first = await person('wa_id:491511', 'bsuid:US.1');
    expect(first).toEqual({ id: expect.any(String), externalUserId: '491511', name: null, openConversationId: null });
    expect((await person('bsuid:US.1', 'wa_id:491511')).externalUserId).toBe('491511');
  });

  test('the name is the last one that a payload gave', async () => {
    await personOf(workspace, connection, ['wa_id:1'], { name: 'Ann' });
    expect((await person('wa_id:1')).name).toBe('Ann');
    expect((await personOf(workspace, connection, ['wa_id:1'], { name: `  Änn\0${'x'.repeat(300)}` })).name).toMatch(
      /^Änn/,
    );
    expect((await people()).map(({ name }) => name?.length)).toEqual([255]);
  });

  test('what was seen last comes first', async () => {
    await personOf(workspace, connection, ['wa_id:1', 'bsuid:B'], { now: new Date('2026-01-01T00:00:00Z') });
    const { id } = await personOf(workspace, connection, ['bsuid:B'], { now: new Date('2026-01-02T00:00:00Z') });
    const identities = await selectIdentities(workspace.db, workspace.workspaceId, id);
    expect(identities.map(({ kind }) => kind)).toEqual(['bsuid', 'wa_id']);
  });
});

test('the same identity on another connection, or of another kind, is another person', async () => {
  const other = await addConnection(workspace);
  const [here, there] = [await person('bsuid:US.9'), await personOf(workspace, other, ['bsuid:US.9'])];
  expect(there.id).not.toBe(here.id);
  expect((await person('visitor:US.9')).id).not.toBe(here.id);
});

describe('two people who turn out to be one', () => {
  test('have the identities, the messages and the waiting calls of both in the conversation with the latest message', async () => {
    const [one, two] = [await person('lid:5@lid'), await person('phone:491')];
    const older = await beginTalk(workspace, connection, one, { text: 'First.', at: new Date('2026-01-01T10:00:00Z') });
    const newer = await beginTalk(workspace, connection, two, {
      text: 'Second.',
      at: new Date('2026-01-02T10:00:00Z'),
    });
    const { workspaceId, db } = workspace;
    const turn = { workspace_id: workspaceId, id: newId(), conversation_id: older, agent_id: connection.agentId };
    await db
      .insertInto('turns')
      .values({
        ...turn,
        version_number: 1,
        kind: 'message',
        status: 'waiting',
        paused: JSON.stringify({ format: 2 }),
        ended_at: new Date(),
      })
      .execute();
    await db
      .insertInto('approvals')
      .values({
        workspace_id: workspaceId,
        id: newId(),
        conversation_id: older,
        turn_id: turn.id,
        agent_id: connection.agentId,
        tool_name: 'pay',
        origin: JSON.stringify({ kind: 'capability', name: 'pay' }),
        input: '{}',
      })
      .execute();
    const event = { provider_message_id: 'm1', id: newId(), event: '{}', sent_at: new Date() };
    await db
      .insertInto('inbound_messages')
      .values({
        ...event,
        workspace_id: workspaceId,
        connection_id: connection.connectionId,
        end_user_id: two.id,
        conversation_id: newer,
      })
      .execute();

    const merged = await person('phone:491', 'lid:5@lid');
    expect(merged).toMatchObject({ id: one.id, externalUserId: '5@lid', openConversationId: newer });
    expect(await known(one.id)).toEqual(['lid:5@lid', 'phone:491']);
    expect(await people()).toHaveLength(1);
    expect(await conversations()).toMatchObject([
      { id: newer, end_user_id: one.id, external_user_id: '5@lid', message_count: 2, last_message_snippet: 'Second.' },
    ]);
    expect(await said(newer)).toEqual(['First.', 'Second.']);
    const of = (table: 'turns' | 'approvals') =>
      db.selectFrom(table).select('conversation_id').where('agent_id', '=', connection.agentId).execute();
    expect([await of('turns'), await of('approvals')]).toEqual([
      [{ conversation_id: newer }],
      [{ conversation_id: newer }],
    ]);
    expect(
      await db.selectFrom('inbound_messages').select('end_user_id').where('conversation_id', '=', newer).execute(),
    ).toEqual([{ end_user_id: one.id }]);
  });

  test('share what agents remember: equal facts once, and others with the old id keep theirs', async () => {
    const { db, workspaceId } = workspace;
    const { agentId } = connection;
    const remember = (externalUserId: string, fact: string) =>
      rememberFact(db, workspaceId, { agentId, externalUserId }, fact, new Date());
    const facts = async (externalUserId: string) =>
      (await selectUserMemories(db, workspaceId, { agentId, externalUserId })).map(({ fact }) => fact).sort();
    await person('bsuid:M.1');
    await person('phone:4977');
    for (const id of ['M.1', '4977']) await remember(id, 'Likes tea.');
    await remember('4977', 'Has a cat.');
    await person('bsuid:M.1', 'phone:4977');
    expect(await facts('M.1')).toEqual(['Has a cat.', 'Likes tea.']);
    expect(await facts('4977')).toEqual([]);

    const other = await addConnection(workspace, { agentId, type: 'z_api' });
    await personOf(workspace, other, ['phone:4988']);
    await person('bsuid:M.2');
    await person('phone:4988');
    await remember('4988', 'Lives in Rome.');
    await person('bsuid:M.2', 'phone:4988');
    expect([await facts('M.2'), await facts('4988')]).toEqual([['Lives in Rome.'], ['Lives in Rome.']]);
  });

  test('stay with the conversation in which a turn runs, and are joined when none does', async () => {
    const [one, two] = [await person('lid:6@lid'), await person('phone:492')];
    const turnId = newId();
    const held = await beginTalk(workspace, connection, one, {
      text: 'Held.',
      at: new Date('2026-01-01T10:00:00Z'),
      turnId,
    });
    const newer = await beginTalk(workspace, connection, two, { text: 'Newer.', turnId: newId() });
    expect((await person('phone:492', 'lid:6@lid')).openConversationId).toBe(newer);
    expect(await said(held)).toEqual(['Held.']);
    await workspace.db
      .updateTable('conversations')
      .set({ turn_id: null, turn_expires_at: null })
      .where('id', '=', newer)
      .execute();
    expect((await person('phone:492')).openConversationId).toBe(held);
    expect(await said(held)).toEqual(['Held.', 'Newer.']);
    expect(await conversations()).toHaveLength(1);
  });

  test('stay paused when one of the two conversations was', async () => {
    const [one, two] = [await person('lid:7@lid'), await person('phone:493')];
    const until = new Date('2099-01-01T00:00:00Z');
    await beginTalk(workspace, connection, one, {
      isPaused: true,
      pausedUntil: until,
      at: new Date('2026-01-01T00:00:00Z'),
    });
    await beginTalk(workspace, connection, two);
    await person('phone:493', 'lid:7@lid');
    expect(await conversations()).toMatchObject([{ is_paused: true, paused_by: 'operator', paused_until: until }]);
  });
});

/** A transaction that stays open until it is committed. */
async function begunTransaction() {
  const begun = Promise.withResolvers<Transaction<DB>>();
  const end = Promise.withResolvers<void>();
  const done = inTransaction(workspace.db, async (trx) => {
    begun.resolve(trx);
    await end.promise;
  });
  const commit = () => {
    end.resolve();
    return done;
  };
  return { trx: await begun.promise, commit };
}

describe('at once', () => {
  test('50 messages of one new person, who is named in three ways, make one person', async () => {
    const names = [
      ['wa_id:800', 'bsuid:C'],
      ['bsuid:C', 'lid:8@lid'],
      ['phone:800', 'lid:8@lid'],
    ];
    const all = await Promise.all(Array.from({ length: 50 }, (_, at) => person(...(names[at % 3] ?? []))));
    const [last] = [await person('phone:800')];
    expect(await people()).toHaveLength(1);
    expect(await known(last.id)).toEqual(['bsuid:C', 'lid:8@lid', 'phone:800', 'wa_id:800']);
    expect(all).toHaveLength(50);
  });

  test('the second message of a new person waits for the first, and finds whom it made', async () => {
    const { trx, commit } = await begunTransaction();
    const made = await resolveEndUser(trx, connection, [identity('bsuid:N')], { name: null, now: new Date() });
    const second = person('bsuid:N');
    await untilOneWaits(database.name);
    await commit();
    expect((await second).id).toBe(made.id);
    expect(await people()).toHaveLength(1);
  });

  test('a message finds the person who is left, while another payload makes two people one', async () => {
    const kept = await person('bsuid:K');
    await person('phone:900', 'lid:9@lid');
    const { trx, commit } = await begunTransaction();
    await resolveEndUser(trx, connection, ['bsuid:K', 'phone:900'].map(identity), { name: null, now: new Date() });
    const other = person('lid:9@lid');
    await untilOneWaits(database.name);
    await commit();
    expect((await other).id).toBe(kept.id);
    expect(await people()).toHaveLength(1);
  });

  test('payloads that show different pairs of many people make them one without an error', async () => {
    const ring = Array.from({ length: 23 }, (_, at) => `bsuid:ring${at}`);
    for (const name of ring) await beginTalk(workspace, connection, await person(name));
    const pairs = ring.map((name, at) => [name, ring[(at + 5) % ring.length] ?? '']);
    await Promise.all([...pairs, ...pairs.map(([a = '', b = '']) => [b, a])].map((names) => person(...names)));
    await person(ring[0] ?? '');
    expect(await people()).toHaveLength(1);
    expect(await conversations()).toHaveLength(1);
    const [only] = await conversations();
    expect(await said(only?.id ?? '')).toHaveLength(23);
  });
});

test.each([
  ['phone:0', ['phone:0']],
  ['phone:+55 (11) 98765-4321', ['phone:5511987654321']],
  ['wa_id:5511987654321@c.us', ['wa_id:5511987654321']],
  ['lid:81', ['lid:81@lid']],
  ['lid:81@LID', ['lid:81@lid']],
  ['bsuid: US.AbC ', ['bsuid:US.AbC']],
])('%s is read as %j', (given, read) => {
  expect(readIdentities([identity(given)]).map(({ kind, value }) => `${kind}:${value}`)).toEqual(read);
});

test.each(['phone:', 'phone:+', 'lid: ', `bsuid:${'x'.repeat(256)}`])('%s names nobody', (given) => {
  expect(() => readIdentities([identity(given)])).toThrow('names nobody');
});
