import { sql } from 'kysely';
import { resumeTurn } from '../../../runtime/turn/runTurn.ts';
import { transcript } from '../../http/messages/turns.ts';
import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { messageEvent } from '../../support/channels/events.ts';
import { answerDue, deliverDue, takeDue, useInbox } from '../../support/channels/inbox.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { gatedReply } from '../../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';

/* The process that answers a person sleeps for longer than its lease, and wakes up while another goes on with its turn. */

const here = useInbox();
let replica: TestApp;
let tools: ToolServer;
beforeAll(async () => {
  const options = { models: here.server.settings(), database: here.app.database, clock: here.clock };
  replica = await startTestApp({ ...options, allowPrivateNetwork: true });
  tools = await startToolServer();
  tools.on('/pay', answering('paid'));
});
afterAll(async () => {
  await replica.close();
  await tools.close();
});

test.each([
  ['no tool', []],
  ['a tool', [payCall('Oslo')]],
])('a person gets one reply when the first process had called %s', async (_name, toolCalls) => {
  const connection = await here.connect();
  if (toolCalls.length > 0) {
    const { publicId } = await postTool(here.app, tools, '/pay');
    const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: publicId }]);
    await sql`update channel_connections set agent_id = ${agentId} where id = ${connection.id}`.execute(
      here.app.workspace.db,
    );
  }
  const [sleeping, waking] = [gatedReply(), gatedReply()];
  here.server.script(
    ...(toolCalls.length > 0 ? [{ reply: '', toolCalls }] : []),
    { reply: sleeping.chunks },
    { reply: waking.chunks },
  );
  await here.receive(connection, messageEvent('4915112345', { text: 'Where is my order?' }));
  await takeDue(here.app);
  const first = answerDue(here.app).catch((error: { code: string }) => error.code);
  await here.server.received(toolCalls.length + 1);
  const [conversation] = await here.conversations(connection);
  const conversationId = conversation?.id ?? '';
  const { db, workspaceId } = here.app.workspace;
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where id = ${conversationId}`.execute(
    db,
  );
  const second = resumeTurn({ db, workspaceId, runtime: replica.service.runtime }, conversationId);
  await here.server.received(toolCalls.length + 2);
  sleeping.push('I slept.');
  sleeping.end();
  await first;
  expect(await here.inbound(connection)).toMatchObject([{ status: 'taken', turn_id: expect.any(String) }]);
  waking.push('It is on its way.');
  waking.end();
  await second;
  expect(await here.inbound(connection)).toMatchObject([{ status: 'answered', error_code: null }]);
  here.clock.advance(120_000);
  expect(await answerDue(here.app)).toBe(0);
  await deliverDue(here.app);
  expect(here.zApi.messages.map(({ content }) => content)).toEqual(['It is on its way.']);
  expect(await transcript(here.app, conversationId)).toEqual([
    'user: Where is my order?',
    'assistant: It is on its way.',
  ]);
});
