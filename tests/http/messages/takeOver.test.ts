import { updateChannelConnectionRow } from '../../../db/queries/channels/connections.ts';
import { endPause, pauseConversation } from '../../../db/queries/conversations/pause.ts';
import { PERSON_PAUSE_MS, recordEcho } from '../../../domain/channels/echo.ts';
import { publish } from '../../support/agents/agents.ts';
import { link } from '../../support/agents/runtimeAgents.ts';
import { addConnection } from '../../support/channels/people.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { adminJson } from '../../support/scripts/admin.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { toolCall } from '../../support/turns/exchanges.ts';
import { begun, conversation, draftAgent, publishedAgent, said, send, stored, transcript } from './turns.ts';

/* A person takes over from the agent: by the tool hand_over, by an operator, or by writing on the phone itself. */

const HOUR_MS = 60 * 60 * 1000;
const clock = new TestClock();
let server: ModelServer;
let app: TestApp;
beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings(), clock });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
});

/** An agent with a connection to WhatsApp. */
async function agentOnChannel(setup = {}) {
  const agentId = await publishedAgent(app, setup);
  return addConnection(app.workspace, { agentId });
}
const toolsIn = (at: number) =>
  ((server.requests[at]?.body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
const paused = async (id: string) =>
  await app.workspace.db
    .selectFrom('conversations')
    .select(['is_paused', 'paused_by', 'paused_until'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe('the tool hand_over', () => {
  test('pauses the conversation when the turn ends: its reply goes out, and the next message is 422', async () => {
    const { agentId } = await agentOnChannel();
    server.script(
      { reply: '', toolCalls: [toolCall('hand_over', { reason: 'Asked.' })] },
      { reply: 'Somebody will answer.' },
    );
    const { body } = await send(app, agentId, { content: 'I want to talk to a person.' }).expect(200);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Somebody will answer.' }]);
    expect(body.conversation.isPaused).toBe(true);
    expect(await paused(body.conversationId)).toEqual({ is_paused: true, paused_by: 'agent', paused_until: null });
    const next = { content: 'Hello?', conversationId: body.conversationId };
    expect((await send(app, agentId, next).expect(422)).body.code).toBe('CONVERSATION_PAUSED');
    clock.advance(1000 * HOUR_MS);
    await send(app, agentId, next).expect(422);
    expect(await adminJson(app.database, 'conversation', 'resume', body.conversationId)).toMatchObject({
      isPaused: false,
    });
    await send(app, agentId, next).expect(200);
    expect((await conversation(app, body.conversationId)).isPaused).toBe(false);
  });

  test('is offered to an agent with an active connection only, also when the agent is warm, and never to a sub-agent', async () => {
    const worker = await publishedAgent(app);
    const boss = await draftAgent(app);
    await link(app, boss, 'sub_agent', worker, { description: 'Works.' });
    await publish(app, boss);
    await begun(app, boss);
    expect(toolsIn(0)).toEqual([expect.stringMatching(/^delegate_to_/)]);
    const { workspaceId, connectionId } = await addConnection(app.workspace, { agentId: boss });
    server.reset();
    const delegate = `delegate_to_${(await app.api('get', `/agents/${worker}`)).body.name.replace(/\W/g, '_')}`;
    server.script({ reply: '', toolCalls: [toolCall(delegate, { task: 'Work.' })] });
    await begun(app, boss);
    expect([toolsIn(0), toolsIn(1)]).toEqual([['hand_over', delegate], []]);
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('hand_over');
    const id = await begun(app, boss);
    await app.workspace.db.updateTable('conversations').set({ channel: 'whatsapp' }).where('id', '=', id).execute();
    server.reset();
    server.script({ reply: '', toolCalls: [toolCall(delegate, { task: 'Work.' })] });
    await send(app, boss, { content: 'Well?', conversationId: id }).expect(200);
    expect([toolsIn(0), toolsIn(1)]).toEqual([['hand_over', delegate], []]);
    server.reset();
    await updateChannelConnectionRow(app.workspace.db, workspaceId, connectionId, { is_active: false });
    await begun(app, boss);
    expect(toolsIn(0)).toEqual([delegate]);
  });

  test('is there in a conversation on a channel whose connection is not active', async () => {
    const agentId = await publishedAgent(app);
    const id = await begun(app, agentId);
    await app.workspace.db.updateTable('conversations').set({ channel: 'web_chat' }).where('id', '=', id).execute();
    server.reset();
    await send(app, agentId, { content: 'Well?', conversationId: id }).expect(200);
    expect(toolsIn(0)).toEqual(['hand_over']);
  });

  test('counts also when the turn fails after it', async () => {
    const { agentId } = await agentOnChannel();
    const id = await begun(app, agentId);
    server.script({ reply: '', toolCalls: [toolCall('hand_over')] }, { status: 400 });
    await send(app, agentId, { content: 'A person, please.', conversationId: id }).expect(502);
    expect(await paused(id)).toMatchObject({ is_paused: true, paused_by: 'agent' });
  });

  test('leaves an operator’s pause as it is', async () => {
    const { agentId, workspaceId } = await agentOnChannel();
    const id = await begun(app, agentId);
    const gate = gatedReply();
    server.script({ reply: '', toolCalls: [toolCall('hand_over')] }, { reply: gate.chunks });
    const turn = send(app, agentId, { content: 'A person.', conversationId: id }).then(({ status }) => status);
    await server.received(3);
    await pauseConversation(app.workspace.db, workspaceId, id, { by: 'operator', until: null, now: clock.now() });
    gate.push('Soon.');
    gate.end();
    expect(await turn).toBe(200);
    expect(await paused(id)).toEqual({ is_paused: true, paused_by: 'operator', paused_until: null });
  });
});

describe('a pause with an end', () => {
  test('is none any more once its time has passed, also before a sweep came', async () => {
    const agentId = await publishedAgent(app);
    const id = await begun(app, agentId);
    const until = new Date(clock.now().getTime() + HOUR_MS);
    const { db, workspaceId } = app.workspace;
    await pauseConversation(db, workspaceId, id, { by: 'operator', until, now: clock.now() });
    const listed = async (status: string) =>
      (await app.api('get', `/conversations?status=${status}&agentPublicId=${agentId}`).expect(200)).body.items.map(
        ({ isPaused }: { isPaused: boolean }) => isPaused,
      );
    clock.advance(HOUR_MS - 1);
    await send(app, agentId, { content: 'Well?', conversationId: id }).expect(422);
    expect([await listed('paused'), await listed('open')]).toEqual([[true], []]);
    clock.advance(1);
    expect((await conversation(app, id)).isPaused).toBe(false);
    expect([await listed('paused'), await listed('open')]).toEqual([[], [false]]);
    // Both ways in which a turn begins: after reading, and from memory.
    await send(app, agentId, { content: 'approve', conversationId: id }).expect(200);
    await send(app, agentId, { content: 'And now?', conversationId: id }).expect(200);
  });
});

describe('a message that somebody wrote on the phone', () => {
  test('is the agent’s history as a person’s, and keeps the agent silent for 12 hours', async () => {
    const { agentId, workspaceId } = await agentOnChannel();
    const id = await begun(app, agentId);
    const echo = (text: string) => recordEcho(app.workspace.db, { workspaceId, conversationId: id }, text, clock.now());
    await echo('I will call you at five.');
    clock.advance(HOUR_MS);
    await echo('Done.');
    expect(await paused(id)).toMatchObject({
      paused_by: 'person',
      paused_until: new Date(clock.now().getTime() + PERSON_PAUSE_MS),
    });
    clock.advance(PERSON_PAUSE_MS - 1);
    await send(app, agentId, { content: 'Hello?', conversationId: id }).expect(422);
    clock.advance(1);
    server.reset();
    await send(app, agentId, { content: 'Thank you.', conversationId: id }).expect(200);
    expect(said(server.requests[0]).slice(1)).toEqual([
      'user: Hello.',
      [
        'assistant: Hello from the model.',
        '[A person of the team wrote in place of you:]\nI will call you at five.\n[End of what the person wrote.]',
        '[A person of the team wrote in place of you:]\nDone.\n[End of what the person wrote.]',
      ].join('\n\n'),
      'user: Thank you.',
    ]);
    expect((await transcript(app, id)).slice(2, 4)).toEqual([
      'assistant: I will call you at five.',
      'assistant: Done.',
    ]);
    expect((await stored(app, id))[2]).toMatchObject({ model: null, tokenUsage: null, costUsd: null, costOps: 0 });
    expect((await conversation(app, id)).messageCount).toBe(6);
  });

  test('while the agent is at work keeps its reply back: the person has answered', async () => {
    const { agentId, workspaceId } = await agentOnChannel();
    const { db } = app.workspace;
    const id = await begun(app, agentId);
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const turn = send(app, agentId, { content: 'Is it open?', conversationId: id }).then((answer) => answer);
    await server.received(2);
    await recordEcho(db, { workspaceId, conversationId: id }, 'Yes, until six.', clock.now());
    gate.push('I do not know.');
    gate.end();
    const { status, body } = await turn;
    expect([status, body.code]).toEqual([422, 'CONVERSATION_PAUSED']);
    expect((await transcript(app, id)).slice(-2)).toEqual(['user: Is it open?', 'assistant: Yes, until six.']);
    clock.advance(PERSON_PAUSE_MS);
    await send(app, agentId, { content: 'Thank you.', conversationId: id }).expect(200);
  });

  test('ends the wait for a person when the agent had handed over, and leaves an operator’s pause', async () => {
    const { agentId, workspaceId } = await agentOnChannel();
    const { db } = app.workspace;
    const id = await begun(app, agentId);
    const pause = (by: 'agent' | 'operator' | 'user') =>
      pauseConversation(db, workspaceId, id, { by, until: null, now: clock.now() });
    const echo = () => recordEcho(db, { workspaceId, conversationId: id }, 'Hello.', clock.now());
    for (const by of ['agent', 'user'] as const) {
      await pause(by);
      await echo();
      expect(await paused(id)).toMatchObject({ paused_by: 'person', paused_until: expect.any(Date) });
      await endPause(db, workspaceId, id);
    }
    await pause('operator');
    await echo();
    expect(await paused(id)).toEqual({ is_paused: true, paused_by: 'operator', paused_until: null });
  });
});
