import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type Given, makeConversation } from './conversations.ts';

let app: TestApp;
let agentId: string;
let otherAgentId: string;

/** The ids of the conversations under test, by their names. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startTestApp();
  agentId = (await makeAgent(app)).publicId;
  otherAgentId = (await makeAgent(app)).publicId;
  const at = (day: number) => ({
    startedAt: `2026-03-0${day}T10:00:00.000Z`,
    lastMessageAt: `2026-03-0${day}T11:00:00.000Z`,
  });
  const all: [string, Omit<Given, 'agentId'> & { agentId?: string }][] = [
    ['plain', { ...at(1) }],
    ['test', { ...at(2), isTest: true }],
    ['paused', { ...at(3), isPaused: true, channel: 'whatsapp' }],
    ['ended', { ...at(4), isEnded: true, externalUserId: 'User-1' }],
    ['endedWhilePaused', { ...at(5), isEnded: true, isPaused: true, channel: 'z_api' }],
    ['otherAgent', { ...at(6), agentId: otherAgentId, channel: 'web_chat', externalUserId: 'anna' }],
    [
      'longAgoAndNow',
      { startedAt: '2026-02-01T10:00:00.000Z', lastMessageAt: '2026-03-09T11:00:00.123Z', isTest: true },
    ],
  ];
  for (const [name, given] of all) ids[name] = await makeConversation(app, { agentId, ...given });
  const deleted = await makeConversation(app, { agentId, ...at(7) });
  await app.api('delete', `/conversations/${deleted}`);
  const foreign = (await makeAgent(app, {}, app.stranger.apiKey)).publicId;
  await makeConversation(app, { agentId: foreign, workspace: app.stranger, ...at(8) });
});

afterAll(() => app.close());

/** Names of the conversations that a query lists, in order. */
async function listed(query: string): Promise<(string | undefined)[]> {
  const { status, body } = await app.api('get', `/conversations${query}`);
  expect(status).toBe(200);
  expect(body.total).toBe(body.items.length);
  return body.items.map((item: { publicId: string }) => Object.keys(ids).find((name) => ids[name] === item.publicId));
}

describe('200', () => {
  test('lists the conversations of the workspace that are not deleted, the latest started first', async () => {
    expect(await listed('')).toEqual([
      'otherAgent',
      'endedWhilePaused',
      'ended',
      'paused',
      'test',
      'plain',
      'longAgoAndNow',
    ]);
  });

  test('an item has every field of the schema, and no metadata', async () => {
    const { body } = await app.api('get', '/conversations?channel=whatsapp');
    expect(body).toEqual({
      items: [
        {
          publicId: ids.paused,
          agentPublicId: agentId,
          channel: 'whatsapp',
          externalUserId: 'user-1',
          isTest: false,
          isPaused: true,
          isEnded: false,
          messageCount: 2,
          lastMessageSnippet: 'Hi there.',
          startedAt: '2026-03-03T10:00:00.000Z',
          lastMessageAt: '2026-03-03T11:00:00.000Z',
        },
      ],
      page: 1,
      limit: 20,
      total: 1,
      totalPages: 1,
    });
  });

  test.each<[string, string[]]>([
    ['?status=open', ['otherAgent', 'test', 'plain', 'longAgoAndNow']],
    ['?status=paused', ['paused']],
    ['?status=ended', ['endedWhilePaused', 'ended']],
    ['?isEnded=true', ['endedWhilePaused', 'ended']],
    ['?isEnded=false', ['otherAgent', 'paused', 'test', 'plain', 'longAgoAndNow']],
    ['?isTest=true', ['test', 'longAgoAndNow']],
    ['?isTest=false', ['otherAgent', 'endedWhilePaused', 'ended', 'paused', 'plain']],
    ['?channel=api', ['ended', 'test', 'plain', 'longAgoAndNow']],
    ['?channel=web_chat', ['otherAgent']],
    ['?channel=whatsapp', ['paused']],
    ['?channel=z_api', ['endedWhilePaused']],
    ['?externalUserId=anna', ['otherAgent']],
    ['?externalUserId=User-1', ['ended']],
    ['?externalUserId=ann', []],
    ['?externalUserId=%25', []],
    ['?since=2026-03-06T11:00:00.000Z', ['otherAgent', 'longAgoAndNow']],
    ['?since=2026-03-06T11:00:00.001Z', ['longAgoAndNow']],
    ['?since=2026-03-09T11:00:00.123Z', ['longAgoAndNow']],
    ['?since=2026-03-09T13:00:00.123%2B02:00', ['longAgoAndNow']],
    ['?since=2026-03-09T13:00:00.124%2B02:00', []],
    ['?until=2026-03-02T11:00:00.000Z', ['test', 'plain']],
    ['?until=2026-03-02T10:59:59.999Z', ['plain']],
    ['?since=2026-03-02T11:00:00Z&until=2026-03-03T11:00:00Z', ['paused', 'test']],
    ['?since=2026-03-03T11:00:00Z&until=2026-03-02T11:00:00Z', []],
    ['?since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z&status=paused', ['paused']],
    ['?status=ended&isEnded=false', []],
    ['?status=open&isTest=false', ['otherAgent', 'plain']],
    ['?status=ended&channel=z_api&isTest=false&externalUserId=user-1', ['endedWhilePaused']],
    ['?isTest=true&since=2026-03-05T00:00:00Z', ['longAgoAndNow']],
    ['?isTest=true&channel=whatsapp', []],
  ])('%s lists %j', async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  test('by agent, also together with other filters', async () => {
    expect(await listed(`?agentPublicId=${otherAgentId}`)).toEqual(['otherAgent']);
    expect(await listed(`?agentPublicId=${agentId}&status=paused`)).toEqual(['paused']);
    expect(await listed(`?agentPublicId=${otherAgentId}&status=paused`)).toEqual([]);
  });

  test('an unknown agent has none', async () => {
    expect(await listed(`?agentPublicId=${newId()}`)).toEqual([]);
  });

  test('the conversations of a deleted agent stay', async () => {
    const gone = (await makeAgent(app)).publicId;
    ids.ofDeletedAgent = await makeConversation(app, { agentId: gone });
    expect((await app.api('delete', `/agents/${gone}`)).status).toBe(204);
    expect(await listed(`?agentPublicId=${gone}`)).toEqual(['ofDeletedAgent']);
    await app.api('delete', `/conversations/${ids.ofDeletedAgent}`);
  });

  test('a last message of attachments only leaves an empty snippet', async () => {
    const id = await makeConversation(app, { agentId, externalUserId: 'attachments' });
    await app.workspace.db
      .updateTable('conversations')
      .set({ last_message_snippet: '' })
      .where('id', '=', id)
      .execute();
    const empty = await app.api('get', '/conversations?externalUserId=attachments');
    await app.workspace.db
      .updateTable('conversations')
      .set({ last_message_snippet: null })
      .where('id', '=', id)
      .execute();
    const none = await app.api('get', '/conversations?externalUserId=attachments');
    expect([empty, none].map(({ body }) => body.items[0].lastMessageSnippet)).toEqual(['', '']);
    await app.api('delete', `/conversations/${id}`);
  });

  test('pages list conversations of the same instant once each, the newest id first', async () => {
    const made: string[] = [];
    for (let i = 0; i < 11; i += 1)
      made.push(await makeConversation(app, { agentId: otherAgentId, externalUserId: 'ties' }));
    const seen: string[] = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await app.api('get', `/conversations?externalUserId=ties&limit=4&page=${page}`);
      expect({ ...body, items: body.items.length }).toEqual({
        items: [4, 4, 3, 0][page - 1],
        page,
        limit: 4,
        total: 11,
        totalPages: 3,
      });
      seen.push(...body.items.map((item: { publicId: string }) => item.publicId));
    }
    expect(seen).toEqual(made.toReversed());
  });
});

describe('400', () => {
  test.each([
    'since=yesterday',
    'since=2026-03-01',
    'since=2026-02-30T00:00:00Z',
    'until=2026-03-01T10:00:00',
    'until=2026-06-30T23:59:60Z',
    'since=2026-03-01t10:00:00.123456%2B02',
  ])('%s is not a valid instant', async (query) => {
    const { status, body } = await app.api('get', `/conversations?${query}`);
    expect([status, body.code, body.details[0]?.path]).toEqual([
      400,
      'VALIDATION_ERROR',
      `/query/${query.slice(0, 5)}`,
    ]);
  });
});
