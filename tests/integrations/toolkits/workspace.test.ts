import { newId } from '../../../core/ids.ts';
import { Toolkits } from '../../../integrations/toolkits/toolkits.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../support/db/database.ts';
import { connection } from '../../support/tools/toolkits.ts';

let setting: TestDatabase;
let ours: SeededWorkspace;
let theirs: SeededWorkspace;
const toolkits = new Toolkits({ allowPrivateNetwork: false });
const clock = { now: () => new Date('2026-07-01T12:00:00Z') };

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace();
  theirs = await setting.seedWorkspace();
});

afterAll(() => setting.drop());

/** A conversation with these messages, the first by the user. Answers with its id. */
async function converse({ db, workspaceId }: SeededWorkspace, user: string, ...contents: string[]): Promise<string> {
  const agentId = newId();
  const id = newId();
  const own = { workspace_id: workspaceId };
  await db
    .insertInto('agents')
    .values({ ...own, id: agentId, name: `Agent ${agentId}` })
    .execute();
  const last = contents.at(-1) ?? null;
  await db
    .insertInto('conversations')
    .values({ ...own, id, agent_id: agentId, external_user_id: user, last_message_snippet: last })
    .execute();
  for (const [place, content] of contents.entries()) {
    const role = place % 2 === 0 ? ('user' as const) : ('assistant' as const);
    await db
      .insertInto('messages')
      .values({
        ...own,
        id: newId(),
        conversation_id: id,
        role,
        content,
        sent_at: new Date(Date.UTC(2026, 0, 1, 0, place)),
      })
      .execute();
  }
  return id;
}

async function call(name: string, args: Record<string, unknown>, { db, workspaceId }: SeededWorkspace = ours) {
  const searchKnowledge = async (query: string, limit: number) => [{ source: 'Handbook', text: `${query} ${limit}` }];
  const context = { db, workspaceId, clock, searchKnowledge };
  return toolkits.callTool(connection('workspace'), { name, arguments: args }, context);
}

async function answer(name: string, args: Record<string, unknown>, workspace?: SeededWorkspace) {
  const { isError, text } = await call(name, args, workspace);
  expect({ isError, text }).toMatchObject({ isError: false });
  return JSON.parse(text);
}

test('lists, searches and reads the conversations of this workspace and of no other', async () => {
  const refund = await converse(ours, 'ada', 'Where is my REFUND of 100%?', 'It is on its way.', 'Thanks');
  const other = await converse(ours, 'bob', 'Hello', 'Hi');
  const foreign = await converse(theirs, 'eve', 'A refund please');

  const listed = await answer('list_conversations', {});
  expect(listed.total).toBe(2);
  expect(listed.conversations.map(({ conversationId }: { conversationId: string }) => conversationId)).toEqual([
    other,
    refund,
  ]);
  expect(await answer('list_conversations', { externalUserId: 'ada', status: 'open' })).toMatchObject({
    total: 1,
    conversations: [{ conversationId: refund, externalUserId: 'ada', status: 'open', lastMessage: 'Thanks' }],
  });
  expect(await answer('list_conversations', { status: 'ended' })).toEqual({ total: 0, conversations: [] });

  expect(await answer('search_conversations', { query: 'refund' })).toEqual([
    {
      conversationId: refund,
      role: 'user',
      sentAt: '2026-01-01T00:00:00.000Z',
      excerpt: 'Where is my REFUND of 100%?',
    },
  ]);
  expect(await answer('search_conversations', { query: '0%' })).toHaveLength(1);
  expect(await answer('search_conversations', { query: '_%' })).toEqual([]);

  const read = await answer('read_conversation', { conversationId: refund, limit: 2 });
  expect(read.total).toBe(3);
  expect(read.messages.map(({ content }: { content: string }) => content)).toEqual(['It is on its way.', 'Thanks']);
  for (const conversationId of [foreign, newId(), 'no id'])
    expect(await call('read_conversation', { conversationId })).toEqual({
      isError: true,
      text: 'There is no conversation with this id.',
    });
});

test('a deleted conversation is not found', async () => {
  const id = await converse(ours, 'carl', 'The secret word is xylophone');
  await ours.db.updateTable('conversations').set({ deleted_at: new Date() }).where('id', '=', id).execute();
  expect(await answer('search_conversations', { query: 'xylophone' })).toEqual([]);
  expect(await call('read_conversation', { conversationId: id })).toMatchObject({ isError: true });
});

test('an excerpt shows the text around the first match', async () => {
  await converse(ours, 'dora', `${'a'.repeat(5000)} needle ${'b'.repeat(5000)}`);
  const [{ excerpt }] = await answer('search_conversations', { query: 'NEEDLE' });
  expect(excerpt).toMatch(/^…a{99} needle b{199}…$/);
});

test('a long conversation is cut off at what a model can read', async () => {
  const id = await converse(ours, 'emil', ...new Array(5).fill('x'.repeat(30_000)));
  const { isError, text } = await call('read_conversation', { conversationId: id });
  expect(isError).toBe(false);
  expect(text.length).toBeLessThan(100_100);
  expect(text).toMatch(/\[cut off: the result has \d+ characters\]$/);
});

test('searches knowledge with the function of its context', async () => {
  expect(await answer('search_knowledge', { query: 'holidays', limit: 3 })).toEqual([
    { source: 'Handbook', text: 'holidays 3' },
  ]);
});

test('a failure of the database is thrown and not shown to the model', async () => {
  const broken = await setting.seedWorkspace();
  const context = {
    db: broken.db,
    workspaceId: 'no uuid',
    clock,
    searchKnowledge: async () => [],
  };
  const failed = toolkits.callTool(connection('workspace'), { name: 'list_conversations', arguments: {} }, context);
  await expect(failed).rejects.toMatchObject({ code: '22P02' });
});
