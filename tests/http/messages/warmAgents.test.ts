import { connectDatabase } from '../../../db/connect.ts';
import { softDeleteCustomModel } from '../../../db/queries/agents/aiModels.ts';
import { tapDatabase, type Wiretap } from '../../../scripts/bench/wire.ts';
import { publish, setStatus } from '../../support/agents/agents.ts';
import { createTestDatabase, type TestDatabase } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import {
  begun,
  conversation,
  conversationsOf,
  customModel,
  publishedAgent,
  said,
  send,
  stored,
  transcript,
} from './turns.ts';

/*
 * An agent is warm when the process has answered for it before: its turns begin from memory. Whatever changes meanwhile, in any replica,
 * counts for the next message.
 */
let server: ModelServer;
let base: TestDatabase;
let tap: Wiretap;
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  base = await createTestDatabase();
  tap = await tapDatabase(base.url);
  const database = { ...base, url: tap.url, database: connectDatabase(tap.url, { poolSize: 4 }) };
  app = await startTestApp({ models: server.settings(), database });
});
beforeEach(async () => {
  server.reset();
  await setLimit(null);
  agentId = await publishedAgent(app, { systemPrompt: 'Be brief.' });
  await begun(app, agentId);
  server.reset();
});
afterAll(async () => {
  await app.close();
  await app.database.database.end();
  await tap.close();
  await base.drop();
  await server.close();
});

const setLimit = (operation_limit: number | null) =>
  base.database.system
    .updateTable('workspaces')
    .set({ operation_limit })
    .where('id', '=', app.workspace.workspaceId)
    .execute();
const counted = async () => {
  const { db } = app.workspace;
  const rows = await db.selectFrom('operation_usage').select('operations').execute();
  return rows.map(({ operations }) => operations);
};
const setConversation = (id: string, change: { is_paused?: boolean; is_ended?: boolean; deleted_at?: Date }) =>
  app.workspace.db.updateTable('conversations').set(change).where('id', '=', id).execute();

/** Round trips before the model is called and after it, of the third of three equal messages: by then every statement is prepared. */
async function roundTrips(body: object): Promise<{ before: number; after: number }> {
  let before = 0;
  let all = 0;
  for (let i = 0; i < 3; i += 1) {
    server.reset();
    const seen = server.received(1).then(() => {
      before = tap.roundTrips();
    });
    const done = await tap.during(async () => {
      await send(app, agentId, body).expect(200);
    });
    await seen;
    all = done.roundTrips;
  }
  return { before, after: all - before };
}

describe('a turn asks the database once before the model and once after it', () => {
  test('in a new conversation', async () => {
    expect(await roundTrips({ content: 'Hello.' })).toEqual({ before: 1, after: 1 });
  });

  test('in a conversation that is continued', async () => {
    const conversationId = await begun(app, agentId);
    expect(await roundTrips({ content: 'Again.', conversationId })).toEqual({ before: 1, after: 1 });
  });

  test('with a monthly limit', async () => {
    await setLimit(1000);
    expect(await roundTrips({ content: 'Hello.' })).toEqual({ before: 1, after: 1 });
    const conversationId = await begun(app, agentId);
    expect(await roundTrips({ content: 'Again.', conversationId })).toEqual({ before: 1, after: 1 });
  });
});

describe('what has changed counts for the next message', () => {
  test('a version that was published', async () => {
    const conversationId = await begun(app, agentId);
    await app.api('patch', `/agents/${agentId}`).send({ systemPrompt: 'Be polite.' }).expect(200);
    await publish(app, agentId);
    server.reset();
    await send(app, agentId, { content: 'Again.', conversationId }).expect(200);
    await send(app, agentId, { content: 'New.', externalUserId: 'after' }).expect(200);
    expect(server.requests.map((request) => said(request)[0])).toEqual(['system: Be polite.', 'system: Be polite.']);
    expect(await transcript(app, conversationId)).toHaveLength(4);
    expect(await conversationsOf(app, 'after')).toHaveLength(1);
    const { db } = app.workspace;
    const turns = await db.selectFrom('turns').select('version_number').where('agent_id', '=', agentId).execute();
    expect(turns.filter(({ version_number }) => version_number === 2)).toHaveLength(2);
  });

  test('an agent that was switched off', async () => {
    await setStatus(app.workspace, agentId, 'inactive');
    const { body } = await send(app, agentId, { content: 'Hello.', externalUserId: 'off' }).expect(422);
    expect(body.code).toBe('AGENT_NOT_PUBLISHED');
    expect(await conversationsOf(app, 'off')).toEqual([]);
  });

  test('an agent that somebody switched off in the database by hand', async () => {
    const conversationId = await begun(app, agentId);
    await app.workspace.db.updateTable('agents').set({ status: 'inactive' }).where('id', '=', agentId).execute();
    for (const body of [{ content: 'Hello.' }, { content: 'Again.', conversationId }]) {
      expect((await send(app, agentId, body).expect(422)).body.code).toBe('AGENT_NOT_PUBLISHED');
    }
    expect(await stored(app, conversationId)).toHaveLength(2);
  });

  test('a limit that was set, for new conversations and others; nothing is stored or counted', async () => {
    const conversationId = await begun(app, agentId);
    const before = await counted();
    await setLimit(0);
    const refused = await send(app, agentId, { content: 'Hello.', externalUserId: 'limited' });
    expect(refused.body.code).toBe('OPERATION_LIMIT_REACHED');
    expect((await send(app, agentId, { content: 'Again.', conversationId })).body.code).toBe('OPERATION_LIMIT_REACHED');
    // From now on it is known that there is a limit.
    expect((await send(app, agentId, { content: 'Again.', conversationId })).body.code).toBe('OPERATION_LIMIT_REACHED');
    expect(await conversationsOf(app, 'limited')).toEqual([]);
    expect(await stored(app, conversationId)).toHaveLength(2);
    expect(await counted()).toEqual(before);
  });

  test('the time zone of the workspace', async () => {
    const zone = (time_zone: string) =>
      base.database.system
        .updateTable('workspaces')
        .set({ time_zone })
        .where('id', '=', app.workspace.workspaceId)
        .execute();
    await zone('Asia/Tokyo');
    await begun(app, agentId);
    expect(app.service.runtime.agents.get(`${app.workspace.workspaceId}/${agentId}`)).toMatchObject({
      timeZone: 'Asia/Tokyo',
    });
    await zone('UTC');
  });

  test('the values of variables that the conversation has', async () => {
    const variables = [{ name: 'city', label: 'City', type: 'text_short' as const, defaultValue: 'Rome' }];
    agentId = await publishedAgent(app, { systemPrompt: 'In {{city}}.', dynamicPromptEnabled: true, variables });
    const { body } = await send(app, agentId, { content: 'Hi.', metadata: { variables: { city: 'Oslo' } } }).expect(
      200,
    );
    await begun(app, agentId);
    server.reset();
    await send(app, agentId, { content: 'Again.', conversationId: body.conversationId }).expect(200);
    await send(app, agentId, { content: 'New.' }).expect(200);
    expect(server.requests.map((request) => said(request)[0])).toEqual(['system: In Oslo.', 'system: In Rome.']);
    const wrong = { content: 'Wrong.', externalUserId: 'wrong', metadata: { variables: { city: 7 } } };
    await send(app, agentId, wrong).expect(400);
    expect(await conversationsOf(app, 'wrong')).toEqual([]);
  });
});

describe('a conversation that cannot be taken is refused as it is for a cold agent', () => {
  const stream = (body: object) => app.api('post', `/agents/${agentId}/messages/stream`).send(body);

  test.each([
    ['ended', { is_ended: true }, 'CONVERSATION_ENDED'],
    ['paused', { is_paused: true }, 'CONVERSATION_PAUSED'],
  ])('%s: an error of a message, an event of a stream, and nothing is stored', async (_what, change, code) => {
    await setLimit(1000);
    const conversationId = await begun(app, agentId);
    const before = await counted();
    await setConversation(conversationId, change);
    const { body } = await send(app, agentId, { content: 'Again.', conversationId }).expect(422);
    expect(body.code).toBe(code);
    const { text } = await stream({ content: 'Again.', conversationId }).expect(200);
    expect(text).toContain(`"code":"${code}"`);
    expect((await conversation(app, conversationId)).messageCount).toBe(2);
    expect(await counted()).toEqual(before);
  });

  test('deleted, of another agent, or never there: 404, for a stream too', async () => {
    const conversationId = await begun(app, agentId);
    await setConversation(conversationId, { deleted_at: new Date() });
    const foreign = await begun(app, await publishedAgent(app));
    for (const id of [conversationId, foreign, crypto.randomUUID()]) {
      await send(app, agentId, { content: 'Again.', conversationId: id }).expect(404);
      await stream({ content: 'Again.', conversationId: id }).expect(404);
    }
  });

  test('held by another replica: the message waits for it, and is counted once', async () => {
    await setLimit(1000);
    const conversationId = await begun(app, agentId);
    const [before = 0] = await counted();
    const { db } = app.workspace;
    const hold = (turn_id: string | null, turn_expires_at: Date | null) =>
      db.updateTable('conversations').set({ turn_id, turn_expires_at }).where('id', '=', conversationId).execute();
    await hold(crypto.randomUUID(), new Date(Date.now() + 60_000));
    const waiting = send(app, agentId, { content: 'Again.', conversationId }).expect(200);
    const answered = waiting.then(() => 'answered');
    expect(await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))])).toBe('waits');
    await hold(null, null);
    await answered;
    expect(await stored(app, conversationId)).toHaveLength(4);
    expect(await counted()).toEqual([before + 1]);
  });
});

test('at most as many warm turns begin at once as the limit leaves', async () => {
  await setLimit(0);
  const { db } = app.workspace;
  await db.deleteFrom('operation_usage').execute();
  const { total } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.sum<number>('cost_ops').as('total'))
    .executeTakeFirstOrThrow();
  await setLimit(Number(total) + 3);
  await begun(app, agentId);
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(app, agentId, { content: 'Hello.' })));
  expect(answers.map(({ status }) => status === 200).filter(Boolean)).toHaveLength(2);
});

test('the model of the workspace that was deleted is missed', async () => {
  const aiModelPublicId = await customModel(app.workspace);
  agentId = await publishedAgent(app, { aiModelPublicId });
  await begun(app, agentId);
  await softDeleteCustomModel(app.workspace.db, app.workspace.workspaceId, aiModelPublicId, new Date());
  const { body } = await send(app, agentId, { content: 'Hello.' });
  expect(body.code).toBe('MODEL_PROVIDER_ERROR');
});
