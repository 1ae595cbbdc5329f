import { newId } from '../../core/ids.ts';
import { beginConversation } from '../../db/queries/turns/beginConversation.ts';
import { begun, publishedAgent } from '../http/messages/turns.ts';
import { startTestApp, type TestApp, TestClock } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { FOLLOWS_UP, HOUR_MS } from '../support/turns/followUps.ts';
import { turnStart } from '../support/turns/storedTurns.ts';

const PLACES = 64;
/** One workspace may hold this many of the places, so that others find some. */
const OF_ONE_WORKSPACE = 56;

let server: ModelServer;
let app: TestApp;
let worker: TestApp;
const clock = new TestClock();

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings(), clock });
});
afterAll(async () => {
  await worker.close();
  await app.close();
  await server.close();
});

/** Begins conversations whose follow-ups are due in two hours; returns their ids. */
async function conversations({ apiKey }: TestApp['workspace'], count: number): Promise<string[]> {
  const agentId = await publishedAgent(app, FOLLOWS_UP, apiKey);
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await begun(app, agentId, 'Hello.', apiKey));
  return ids;
}

const turnsThatRun = async (workspaceId: string) => {
  const turns = await app.database.database.system
    .selectFrom('turns')
    .select('conversation_id')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'follow_up')
    .where('status', '=', 'running')
    .execute();
  return turns.length;
};

test('while a backlog of turns waits for models, requests are answered and the turn of another workspace begins at once', async () => {
  await conversations(app.workspace, PLACES + 10);
  const [other] = await conversations(app.stranger, 1);
  clock.advance(2 * HOUR_MS);
  await app.database.database.system
    .updateTable('conversations')
    .set({ follow_up_at: new Date(clock.now().getTime() + HOUR_MS) })
    .where('id', '=', other ?? '')
    .execute();
  server.fallback = { silence: true };
  const before = server.requests.length;
  worker = await startTestApp({
    database: app.database,
    jobs: true,
    models: server.settings(),
    clock,
    backgroundTurns: PLACES,
  });
  await server.received(before + OF_ONE_WORKSPACE);

  // No turn holds a connection while it waits.
  await poll(
    async () => app.database.database.usage(),
    ({ total, idle, waiting }) => total === idle && waiting === 0,
  );
  await worker.api('get', '/agents', app.workspace.apiKey).expect(200);

  // The other workspace's follow-up comes due behind the backlog, and is begun at once.
  clock.advance(HOUR_MS);
  await server.received(before + OF_ONE_WORKSPACE + 1);
  expect(await turnsThatRun(app.stranger.workspaceId)).toBe(1);
  expect(await turnsThatRun(app.workspace.workspaceId)).toBe(OF_ONE_WORKSPACE);
});

test('a turn whose process died goes on at once, though its workspace holds all of its places with new work', async () => {
  const { db, workspaceId } = app.workspace;
  const agentId = await publishedAgent(app);
  const conversationId = newId();
  const start = turnStart({ workspaceId, conversationId, agentId, now: clock.now() }, 'Are you there?');
  await beginConversation(db, start, { externalUserId: newId(), isTest: false, metadata: {} });
  expect(await turnsThatRun(workspaceId)).toBe(OF_ONE_WORKSPACE);
  const before = server.requests.length;
  const past = new Date(Date.now() - 1_000);
  await db.updateTable('conversations').set({ turn_expires_at: past }).where('id', '=', conversationId).execute();
  worker.service.queue.sweep('resume-turn');
  await server.received(before + 1);
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('Are you there?');
});

test('a turn that goes on and loses its process once more waits for nothing that is left of the first job', async () => {
  const other = await startTestApp({ database: app.database, jobs: true, models: server.settings(), clock });
  try {
    await poll(
      async () => {
        // As if the process of the turn were dead; it is not, and may find the job itself.
        await app.database.database.system
          .updateTable('conversations')
          .set({ turn_expires_at: new Date(Date.now() - 1_000) })
          .where('turn_attempt', '=', 2)
          .where('turn_id', 'is not', null)
          .execute();
        other.service.queue.sweep('resume-turn');
        return server.requests.filter(({ body }) => JSON.stringify(body).includes('Are you there?')).length;
      },
      (count) => count === 2,
    );
  } finally {
    await other.close();
  }
});
