import { claimConversation } from '../../../db/queries/turns/claimConversation.ts';
import { takeDeadTurn } from '../../../db/queries/turns/deadTurns.ts';
import { finishTurn, type TurnEnd } from '../../../db/queries/turns/finishTurn.ts';
import type { TurnStart } from '../../../db/queries/turns/turnStart.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { pausedState, turnEnd, turnStart } from '../../support/turns/storedTurns.ts';
import { begun, publishedAgent } from './turns.ts';

let server: ModelServer;
let app: TestApp;
let agentId: string;
let conversationId: string;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings() });
  agentId = await publishedAgent(app);
});
beforeEach(async () => {
  conversationId = await begun(app, agentId);
});
afterAll(async () => {
  await app.close();
  await server.close();
});

const claim = (start: TurnStart) => claimConversation(app.workspace.db, start, { historyBytes: 10_000 });
const newStart = (more: Partial<TurnStart> = {}) => ({
  ...turnStart({ workspaceId: app.workspace.workspaceId, conversationId, agentId, now: app.clock.now() }),
  ...more,
});

/**
 * Claims the conversation for `next` while the end of the turn before is being stored and its lease has expired, and once more afterwards.
 * Another process tries to go on with the turn meanwhile, and does not get it.
 */
async function besideTheEnd(end: TurnEnd, next: TurnStart) {
  const before = newStart();
  await claim(before);
  const { db, workspaceId } = app.workspace;
  await db
    .updateTable('conversations')
    .set({ turn_expires_at: new Date(0) })
    .where('id', '=', conversationId)
    .execute();
  const { first, taking } = await db.transaction().execute(async (trx) => {
    await finishTurn(trx, before, end);
    const early = await claim(next);
    const late = takeDeadTurn(db, workspaceId, conversationId, 'Unknown.');
    await untilOneWaits(app.database.name);
    return { first: early, taking: late };
  });
  expect(await taking).toBeUndefined();
  expect(first).toMatchObject({ conversation: undefined, held: true });
  return { before, first, last: await claim(next) };
}

test('a message that arrives while the previous turn is being stored sees the reply of that turn', async () => {
  const { last } = await besideTheEnd(turnEnd('The very last.'), newStart());
  expect(last.conversation).toBeDefined();
  expect(last.history.map(({ content }) => content)).toEqual([
    'Hello.',
    'Hello from the model.',
    'Hello',
    'The very last.',
  ]);
});

test('a message that arrives while the previous turn is being stored sees the calls that wait for approval', async () => {
  const { before, last } = await besideTheEnd(waitingEnd(), newStart());
  expect(last.waiting).toMatchObject([{ id: before.turnId }]);
});

test('a message that arrives while the previous turn is being stored sees no waiting call that this turn resumed', async () => {
  const waiting = newStart();
  await claim(waiting);
  await finishTurn(app.workspace.db, waiting, waitingEnd());
  const { last } = await besideTheEnd(
    turnEnd('Done.', { resumed: { turnIds: [waiting.turnId], waiting: [], dropped: [] } }),
    newStart(),
  );
  expect([last.conversation?.id, last.waiting]).toEqual([conversationId, []]);
});

test('a continuation does not resume again the calls that the previous turn has resumed', async () => {
  const waiting = newStart();
  await claim(waiting);
  await finishTurn(app.workspace.db, waiting, waitingEnd());
  const next = newStart({ kind: 'continuation', message: null });
  const { first, last } = await besideTheEnd(
    turnEnd('Done.', { resumed: { turnIds: [waiting.turnId], waiting: [], dropped: [] } }),
    next,
  );
  expect([first.conversation, last.conversation]).toEqual([undefined, undefined]);
});

const waitingEnd = () => turnEnd('Wait.', { paused: { state: pausedState(), approvals: [] } });
