import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { lastResult, resultsOf, toolCall } from '../../support/turns/exchanges.ts';
import { conversationThatWaits } from '../../support/turns/waitingCalls.ts';
import { send } from './turns.ts';

const here = useModelApp({ tools: true });
let pay: string;
let look: string;

beforeAll(async () => {
  here.tools.on('/pay', answering('{"paid":true}'));
  here.tools.on('/look', answering('{"seen":true}'));
  pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
  look = (await postTool(here.app, here.tools, '/look')).publicId;
});

/** Replaces the stored JSON in a column of the conversation's only turn. */
async function store(conversationId: string, column: 'paused' | 'transcript', json: object): Promise<void> {
  await here.app.workspace.db
    .updateTable('turns')
    .set({ [column]: JSON.stringify(json) })
    .where('conversation_id', '=', conversationId)
    .execute();
}

test('a paused turn that was stored without a format number continues', async () => {
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: pay }]);
  const { conversationId, approvals } = await conversationThatWaits(here.app, here.server, agentId, 'Oslo');
  const call = { toolCallId: 'call_old', toolName: 'pay' };
  await store(conversationId, 'paused', {
    agentId,
    task: '',
    writer: 'openai-compatible/local-model',
    messages: [{ role: 'assistant', content: [{ type: 'tool-call', ...call, input: { city: 'Oslo' } }] }],
    calls: [
      {
        ...call,
        origin: { kind: 'http_tool', id: pay, operation: null },
        state: {
          kind: 'waiting',
          approvalId: approvals[0],
          input: { city: 'Oslo' },
          requestedAt: '2026-03-01T12:00:00.000Z',
        },
      },
    ],
  });
  here.server.script({ reply: 'Paid.' });
  const { body } = await send(here.app, agentId, { content: 'approve', conversationId }).expect(200);
  expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Paid.' }] });
  expect(here.tools.received.map(({ body: sent }) => JSON.parse(sent))).toEqual([{ city: 'Oslo' }]);
  expect(lastResult(here.server.requests.at(-1)).text).toContain('paid');
});

test.each([
  ['was stored before transcripts had a format number', (messages: object[]) => messages, ['Seen long ago.']],
  [
    'was stored before the order of arguments was kept',
    (messages: object[]) => ({ format: 2, messages }),
    ['Seen long ago.'],
  ],
  [
    'is stored in the format of today',
    (messages: object[]) => ({ format: 3, json: JSON.stringify({ messages }) }),
    ['Seen long ago.'],
  ],
  ['is stored in a format of a later version, whose calls are left out', () => ({ format: 4, calls: [] }), []],
])('a later turn reads a transcript that %s', async (_when, stored, results) => {
  const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: look }]);
  here.server.script({ reply: '', toolCalls: [toolCall('look', { city: 'Oslo' })] }, { reply: 'Seen.' });
  const { body } = await send(here.app, agentId, { content: 'Look.' }).expect(200);
  const call = { toolCallId: 'call_old', toolName: 'look' };
  const messages = [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
    { role: 'tool', content: [{ ...call, text: 'Seen long ago.', isError: false }] },
  ];
  await store(body.conversationId, 'transcript', stored(messages));
  await send(here.app, agentId, { content: 'And?', conversationId: body.conversationId }).expect(200);
  expect(resultsOf(here.server.requests.at(-1)).map(({ text }) => text)).toEqual(results);
});
