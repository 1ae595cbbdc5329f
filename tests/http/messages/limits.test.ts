import { newId } from '../../../core/ids.ts';
import { beginConversation } from '../../../db/queries/turns/beginConversation.ts';
import { finishTurn } from '../../../db/queries/turns/finishTurn.ts';
import { returnToQuota, takeFromQuota } from '../../../db/queries/workspaces/quota.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { turnEnd, turnStart } from '../../support/turns/storedTurns.ts';
import { begun, publishedAgent, send, stored, transcript } from './turns.ts';

let server: ModelServer;
let app: TestApp;
let clock: TestClock;

beforeAll(async () => {
  server = await startModelServer();
  clock = new TestClock();
  app = await startTestApp({ models: server.settings(), clock });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
});

async function workspaceWith(operationLimit?: number): Promise<SeededWorkspace & { agentId: string }> {
  const workspace = await app.database.seedWorkspace(operationLimit === undefined ? {} : { operationLimit });
  return { ...workspace, agentId: await publishedAgent(app, {}, workspace.apiKey) };
}

/** Sends messages to new conversations, all at once. Returns how often each status came. */
async function outcomes(
  workspace: SeededWorkspace & { agentId: string },
  count: number,
): Promise<Record<string, number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => send(app, workspace.agentId, { content: 'Hi' }, workspace.apiKey)),
  );
  const counted: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status === 200 ? '200' : `${status} ${body.code}`;
    counted[outcome] = (counted[outcome] ?? 0) + 1;
  }
  return counted;
}

const setLimit = (workspace: SeededWorkspace, limit: number | null) =>
  app.database.database.system
    .updateTable('workspaces')
    .set({ operation_limit: limit })
    .where('id', '=', workspace.workspaceId)
    .execute();

describe('429 OPERATION_LIMIT_REACHED', () => {
  test('is exact when 50 messages meet a limit of 20, and nothing of the refused ones is stored', async () => {
    const workspace = await workspaceWith(20);
    expect(await outcomes(workspace, 50)).toEqual({ '200': 20, '429 OPERATION_LIMIT_REACHED': 30 });
    expect(server.requests).toHaveLength(20);
    const { body } = await app.api('get', '/conversations', workspace.apiKey).expect(200);
    expect(body.total).toBe(20);
  });

  test('a refused message does not change its conversation', async () => {
    const workspace = await workspaceWith(1);
    const conversationId = await begun(app, workspace.agentId, 'Hello.', workspace.apiKey);
    const { status } = await send(app, workspace.agentId, { content: 'More', conversationId }, workspace.apiKey);
    expect(status).toBe(429);
    expect(await stored(app, conversationId, workspace.apiKey)).toHaveLength(2);
  });

  test('turns that fail give their operation back', async () => {
    const workspace = await workspaceWith(2);
    const { agentId, apiKey } = workspace;
    server.fallback = { status: 500 };
    for (let i = 0; i < 4; i += 1) await send(app, agentId, { content: 'Hi' }, apiKey).expect(502);
    server.reset();
    server.script({ silence: true });
    await send(app, agentId, { content: 'Slow', timeoutSeconds: 1 }, apiKey).expect(408);
    expect(await outcomes(workspace, 3)).toEqual({ '200': 2, '429 OPERATION_LIMIT_REACHED': 1 });
  });

  test('a stored turn keeps its operation, also when the response to its commit was lost', async () => {
    const { workspaceId, db, agentId } = await workspaceWith(1);
    const now = clock.now();
    const start = turnStart({ workspaceId, conversationId: newId(), agentId, now, usesQuota: true });
    await beginConversation(db, start, { externalUserId: 'ada', isTest: false, metadata: {} });
    await finishTurn(db, start, turnEnd('Hi.', { now }));
    await returnToQuota(db, workspaceId, start.turnId, now);
    expect(await takeFromQuota(db, workspaceId, now)).toBe(false);
    await returnToQuota(db, workspaceId, newId(), now);
    expect(await takeFromQuota(db, workspaceId, now)).toBe(true);
  });

  test('a limit of 0 refuses every message; the count of a new month starts at 0', async () => {
    expect(await outcomes(await workspaceWith(0), 1)).toEqual({ '429 OPERATION_LIMIT_REACHED': 1 });
    const workspace = await workspaceWith(1);
    expect(await outcomes(workspace, 2)).toEqual({ '200': 1, '429 OPERATION_LIMIT_REACHED': 1 });
    clock.advance(31 * 86_400_000);
    expect(await outcomes(workspace, 2)).toEqual({ '200': 1, '429 OPERATION_LIMIT_REACHED': 1 });
  });

  test('a limit that is set later counts the operations since the month began, those of this workspace only', async () => {
    const workspace = await workspaceWith();
    const other = await workspaceWith();
    expect(await outcomes(other, 5)).toEqual({ '200': 5 });
    expect(await outcomes(workspace, 5)).toEqual({ '200': 5 });
    clock.advance(31 * 86_400_000);
    expect(await outcomes(workspace, 3)).toEqual({ '200': 3 });
    await setLimit(workspace, 5);
    expect(await outcomes(workspace, 4)).toEqual({ '200': 2, '429 OPERATION_LIMIT_REACHED': 2 });
    await setLimit(workspace, 6);
    expect(await outcomes(workspace, 4)).toEqual({ '200': 1, '429 OPERATION_LIMIT_REACHED': 3 });
    await setLimit(workspace, null);
    expect(await outcomes(workspace, 4)).toEqual({ '200': 4 });
  });

  test('is returned before the message queues: a refusal does not wait for a conversation that is in use', async () => {
    const workspace = await workspaceWith(2);
    const { agentId, apiKey } = workspace;
    const conversationId = await begun(app, agentId, 'Hello.', apiKey);
    server.script({ silence: true });
    const running = send(app, agentId, { content: 'Slow', conversationId }, apiKey).then((each) => each);
    await server.received(2);
    await send(app, agentId, { content: 'Refused', conversationId }, apiKey).expect(429);
    server.cut();
    expect((await running).status).toBe(502);
    expect(await transcript(app, conversationId, apiKey)).not.toContain('user: Refused');
  });
});
