import { sql } from 'kysely';
import { resumeTurn } from '../../../runtime/turn/runTurn.ts';
import { shelfOf } from '../../runtime/knowledge/searchSetting.ts';
import { publish } from '../../support/agents/agents.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { addConnection } from '../../support/channels/people.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { poll } from '../../support/poll.ts';
import type { Step } from '../../support/servers/modelServer.ts';
import { toolCall } from '../../support/turns/exchanges.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';
import { conversationsOf, LOCAL, send, stored } from './turns.ts';

/* What the steps of a turn have brought about is there when another process goes on with it, and is not done again. */

let other: TestApp;
// Before the service, whose database it has.
afterAll(() => other.close());
const here = useModelApp({ tools: true });
let pay: string;
beforeAll(async () => {
  here.tools.on('/pay', (_received, response) => void response.writeHead(200).end('paid'));
  pay = (await postTool(here.app, here.tools, '/pay')).publicId;
  const { database, clock } = here.app;
  other = await startTestApp({ models: here.server.settings(), allowPrivateNetwork: true, database, clock });
});

/** A turn that waits for its model after these answers, is taken over by another process after `meanwhile`, and gets this answer there. */
async function resumed(
  agentId: string,
  externalUserId: string,
  answers: Step[],
  last: string,
  meanwhile = async (): Promise<void> => {},
) {
  here.server.script(...answers, { silence: true });
  const lost = send(here.app, agentId, { content: 'When do orders leave?', externalUserId }).then(
    ({ status }) => status,
  );
  await here.server.received(answers.length + 1);
  const conversationId = (await conversationsOf(here.app, externalUserId))[0]?.publicId ?? '';
  const ended = (steps: { kind: string; status: string }[]) =>
    (answers.length === 0 || steps.some(({ kind }) => kind === 'tool')) &&
    steps.every(({ status }) => status !== 'running');
  await poll(
    () => stepsOf(here.app, conversationId),
    (steps) => ended(steps.filter(({ name }) => !name.startsWith('delegate_to'))),
  );
  await meanwhile();
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where id = ${conversationId}`.execute(
    here.app.workspace.db,
  );
  here.server.script({ reply: last });
  const { db, workspaceId } = here.app.workspace;
  await resumeTurn({ db, workspaceId, runtime: other.service.runtime }, conversationId);
  expect(await lost).toBe(503);
  const [turn] = await turnsOf(here.app, conversationId);
  return { turn, messages: await stored(here.app, conversationId) };
}

test('components that were shown are shown with the reply, and all tokens count', async () => {
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: pay }], {
    aiModelPublicId: LOCAL,
    genuiEnabled: true,
  });
  const ui = { type: 'text', text: 'Shown.' };
  const calls = [toolCall('show_ui', { ui }, 'call_1'), payCall('Oslo')];
  const usage = { input: 100, output: 10 };
  const { turn, messages } = await resumed(agentId, 'ui', [{ reply: '', toolCalls: calls, usage }], 'See below.');
  expect(messages.at(-1)).toMatchObject({ content: 'See below.', ui });
  expect(turn).toMatchObject({ status: 'done', input_tokens: 111, output_tokens: 14 });
  expect(here.tools.received).toHaveLength(1);
});

test('a conversation that was handed over is paused when the reply is there', async () => {
  const agentId = await agentWith(here.app, [], { aiModelPublicId: LOCAL });
  await addConnection(here.app.workspace, { agentId });
  const calls = [toolCall('hand_over', { reason: 'Asked.' })];
  const { messages } = await resumed(agentId, 'over', [{ reply: '', toolCalls: calls }], 'Somebody will answer.');
  expect(messages.at(-1)?.content).toBe('Somebody will answer.');
  expect(await conversationsOf(here.app, 'over')).toMatchObject([{ isPaused: true }]);
});

test('a sub-agent goes on from its own steps', async () => {
  const desk = await agentWith(here.app, [{ kind: 'http_tool', id: pay }], { name: 'Desk', aiModelPublicId: LOCAL });
  const boss = await agentWith(here.app, [{ kind: 'sub_agent', id: desk }], { aiModelPublicId: LOCAL });
  const answers: Step[] = [
    { reply: '', toolCalls: [toolCall('delegate_to_Desk', { task: 'Pay.' })] },
    { reply: '', toolCalls: [payCall('Oslo')] },
  ];
  here.server.fallback = { reply: 'All is paid.' };
  const { messages } = await resumed(boss, 'sub', answers, 'Paid by the desk.');
  expect(messages.at(-1)).toMatchObject({ content: 'All is paid.' });
  expect(here.tools.received).toHaveLength(1);
  // The desk answered once more, and then the boss read that.
  expect(here.server.requests).toHaveLength(5);
  expect(JSON.stringify(here.server.requests[3]?.body)).toContain('paid');
  expect(JSON.stringify(here.server.requests[4]?.body)).toContain('Paid by the desk.');
});

test('the model is asked again what it was asked, with what was found, by the version that the turn began with', async () => {
  const source = await shelfOf(here.app.workspace).add(['Orders leave within a day.', 'Bread is at the desk.']);
  const agentId = await agentWith(here.app, [{ kind: 'knowledge_source', id: source }], {
    aiModelPublicId: LOCAL,
    systemPrompt: 'You are the first.',
  });
  const { messages } = await resumed(agentId, 'same', [], 'Within a day.', async () => {
    await here.app.api('patch', `/agents/${agentId}`).send({ systemPrompt: 'You are the second.' }).expect(200);
    await publish(here.app, agentId);
  });
  expect(messages.at(-1)?.content).toBe('Within a day.');
  const [first, again] = here.server.requests.map(({ body }) => body);
  expect(JSON.stringify(first)).toContain('Orders leave within a day.');
  expect(again).toEqual(first);
});
