import { pino } from 'pino';
import { systemClock } from '../../core/clock.ts';
import { continueConversation } from '../../jobs/continueConversation.ts';
import { send } from '../http/messages/turns.ts';
import { agentWith, postTool } from '../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { admin } from '../support/scripts/admin.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { conversationThatWaits } from '../support/turns/waitingCalls.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  tools.on('/pay', answering('{"paid":true}'));
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true, clock: systemClock });
});
afterAll(async () => {
  await app.close();
  await tools.close();
  await server.close();
});

test('a conversation that fails repeatedly is no longer continued by itself, and the next message continues it', async () => {
  const { publicId } = await postTool(app, tools, '/pay', { requiresApproval: true });
  const agentId = await agentWith(app, [{ kind: 'http_tool', id: publicId }]);
  const { conversationId, approvals } = await conversationThatWaits(app, server, agentId, 'Oslo');
  await admin(app.database, 'approval', 'approve', approvals[0] ?? '');
  const job = { workspaceId: app.workspace.workspaceId, conversationId };
  const context = {
    database: app.database.database,
    runtime: app.service.runtime,
    clock: app.clock,
    logger: pino({ level: 'silent' }),
    jobs: app.service.queue,
    signal: new AbortController().signal,
  };
  server.fallback = { status: 500 };
  for (let failed = 0; failed < 10; failed += 1) {
    expect(await continueConversation.sweep(context)).toEqual({ due: [job] });
    await expect(continueConversation.run(job, context)).rejects.toMatchObject({ code: 'MODEL_PROVIDER_ERROR' });
  }
  expect(await continueConversation.sweep(context)).toEqual({ due: [] });
  server.fallback = { reply: 'Paid.' };
  const { body } = await send(app, agentId, { content: 'Well?', conversationId }).expect(200);
  expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Paid.' }] });
  expect(tools.received).toHaveLength(1);
});
