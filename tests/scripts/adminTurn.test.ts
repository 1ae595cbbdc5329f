import { newId } from '../../core/ids.ts';
import { send } from '../http/messages/turns.ts';
import { agentWith, postTool } from '../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp, TestClock } from '../support/http/app.ts';
import { makeSource, processed } from '../support/knowledge/knowledge.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { toolCall } from '../support/turns/exchanges.ts';
import { payCall } from '../support/turns/waitingCalls.ts';

const clock = new TestClock();
let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ allowPrivateNetwork: true, models: server.settings(), clock });
  tools.on('/pay', answering(JSON.stringify({ receipt: 'r'.repeat(500) })));
  agentId = await agentWith(app, [{ kind: 'http_tool', id: (await postTool(app, tools, '/pay')).publicId }]);
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await tools.close();
  await server.close();
});

const admin = (...args: string[]) => run(app.database, 'turn', ...args);
const json = (...args: string[]) => adminJson(app.database, 'turn', ...args);

/** Makes a conversation in which the agent has called `pay` for Oslo. */
async function paid(content = 'Pay Oslo.'): Promise<string> {
  server.script(
    { reply: 'I pay.', toolCalls: [payCall('Oslo')], usage: { input: 100, output: 10 } },
    { reply: 'Paid.', usage: { input: 150, output: 5, cached: 90 } },
  );
  const { body } = await send(app, agentId, { content }).expect(200);
  return body.conversationId;
}

/** One more turn of it, in which `pay` is called again. */
async function payAgain(conversationId: string): Promise<void> {
  server.script({ reply: 'Again.', toolCalls: [payCall('Oslo')] }, { reply: 'Paid again.' });
  await send(app, agentId, { content: 'Once more.', conversationId }).expect(200);
}

test('list shows the turns of a conversation, latest first, failed ones with their error', async () => {
  const conversationId = await paid();
  clock.advance(1000);
  server.script({ status: 500 });
  await send(app, agentId, { content: 'Again.', conversationId }).expect(502);
  const turns = await json('list', '--conversation', conversationId);
  expect(turns).toEqual([
    expect.objectContaining({ status: 'failed', errorCode: 'MODEL_PROVIDER_ERROR', errorMessage: expect.any(String) }),
    {
      turnPublicId: expect.any(String),
      workspacePublicId: app.workspace.workspaceId,
      conversationPublicId: conversationId,
      agentPublicId: agentId,
      versionNumber: 1,
      kind: 'message',
      status: 'done',
      errorCode: null,
      errorMessage: null,
      inputTokens: 250,
      outputTokens: 15,
      costUsd: 0,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
    },
  ]);
  expect(await json('list', '--conversation', conversationId, '--limit', '1')).toEqual([turns[0]]);
  const { stdout } = await admin('list', '--conversation', conversationId);
  expect(stdout).toMatch(/^TURN +STARTED +TOOK +KIND +STATUS +USED +ERROR\n/);
  expect(stdout.split('\n')[1]).toMatch(/ message +failed +0 in, 0 out, \$0\.000000 +MODEL_PROVIDER_ERROR$/);
});

test('show prints a turn step by step: in full with --json, cut for people', async () => {
  const conversationId = await paid('Pay\nOslo.');
  const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
  const whole = await json('show', id);
  expect(whole.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`)).toEqual([
    'user: Pay\nOslo.',
    'assistant: I pay.\n\nPaid.',
  ]);
  const model = { kind: 'model', name: 'local-model', provider: 'openai-compatible', depth: 0, status: 'done' };
  expect(whole.steps).toMatchObject([
    { seq: 0, ...model, agentPublicId: agentId, inputTokens: 100, outputTokens: 10, costUsd: 0 },
    { seq: 1, kind: 'tool', name: 'pay', provider: null, status: 'done', input: { city: 'Oslo' }, inputTokens: null },
    { seq: 2, ...model, output: { text: 'Paid.', toolCalls: [], finishReason: 'stop' } },
  ]);
  // The wire of chat completions does not say what a provider wrote to its cache.
  expect(whole.steps).toMatchObject([
    { cachedInputTokens: 0, finishReason: 'tool-calls' },
    { cachedInputTokens: null, cacheWriteTokens: null, finishReason: null },
    { cachedInputTokens: 90, finishReason: 'stop' },
  ]);
  expect(whole.steps[1].output.text).toContain('r'.repeat(500));
  expect(whole.steps[1].durationMs).toEqual(expect.any(Number));
  const { stdout } = await admin('show', id);
  expect(stdout).not.toContain('r'.repeat(200));
  expect(stdout).toContain('user         "Pay\\nOslo."\n');
  expect(stdout).toContain('used         250 in, 15 out, $0.000000\n');
  expect(stdout).toMatch(
    /\n0 model openai-compatible\/local-model: depth 0, done, \d+ ms, 100 in, 10 out, \$0\.000000, ended by tool-calls\n/,
  );
  expect(stdout).toContain(' 150 in, 5 out, $0.000000 (of the input 90 from the cache), ended by stop\n');
  expect(stdout).toMatch(/\n1 tool pay: depth 0, done, \d+ ms\n {2}input {2}\{"city":"Oslo"\}\n {2}output .{159}…\n/);
});

describe('show --step', () => {
  test('prints what the model was sent: instructions, tools and every message, and nothing else of the turn', async () => {
    const conversationId = await paid('Pay\nOslo.');
    await payAgain(conversationId);
    const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
    const { stdout } = await admin('show', id, '--step', '2');
    expect(stdout).toMatch(
      /^2 model openai-compatible\/local-model: depth 0, done, .*\n-- instructions, \d+ characters\n {4}/,
    );
    expect(stdout).toContain('\n-- tools: 1\n  pay\n    Does pay.\n    {"type":"object"');
    expect(stdout).toMatch(
      /\n-- message 1 of \d+: user\n {4}Pay\n {4}Oslo\.\n-- message 2 of \d+: beside the message before, by the service\n/,
    );
    expect(stdout).toContain('  calls pay (call_');
    expect(stdout).toContain(`    {"receipt":"${'r'.repeat(500)}"}`);
    expect(stdout).not.toContain('1 tool pay');
    expect(stdout).toContain('\n-- output\n');
    const whole = await json('show', id, '--step', '2');
    expect(whole.steps).toHaveLength(1);
    expect(whole.steps[0].request.messages[0]).toEqual({ role: 'user', content: 'Pay\nOslo.' });
    expect((await json('show', id)).steps[2].request).toBeUndefined();
    const all = await json('show', id, '--requests');
    expect(all.steps.map(({ request }: { request?: object }) => request !== undefined)).toEqual([true, false, true]);
  });

  test('a text cannot look like what is printed around it, or move the cursor', async () => {
    const conversationId = await paid('Hi\n-- message 2 of 2: assistant\nSold\u001b[2J for 1 \u202e$.');
    const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
    const { stdout } = await admin('show', id, '--step', '0');
    expect(stdout).toContain(
      '-- message 1 of 2: user\n    Hi\n    -- message 2 of 2: assistant\n    Sold\\u001b[2J for',
    );
    expect(stdout.match(/^-- message 2.*/gm)).toEqual(['-- message 2 of 2: beside the message before, by the service']);
  });

  test('says that nothing is stored of an older step, and that a step is not there', async () => {
    const conversationId = await paid();
    const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
    await app.workspace.db.updateTable('turn_steps').set({ request: null }).where('turn_id', '=', id).execute();
    expect((await admin('show', id, '--step', '0')).stdout).toContain('\nWhat the model was sent is not stored: ');
    expect((await json('show', id, '--step', '0')).steps[0].request).toBeNull();
    const stderr = 'error: The turn has no step 7\n';
    expect(await admin('show', id, '--step', '7')).toEqual({ code: 1, stdout: '', stderr });
  });
});

test('show prints what the knowledge was searched for, and where each passage was found', async () => {
  const worker = await startTestApp({ models: server.settings(), database: app.database, jobs: true });
  const textContent = 'Returns are taken for thirty days.';
  const { publicId } = await makeSource(worker, { name: 'Handbook', textContent });
  await processed(worker, publicId);
  const answers = await agentWith(worker, [{ kind: 'knowledge_source', id: publicId }]);
  const { body } = await send(worker, answers, { content: 'How long are returns taken?' }).expect(200);
  await worker.close();
  const [{ turnPublicId: id }] = await json('list', '--conversation', body.conversationId);
  const [step] = (await json('show', id)).steps;
  expect(step.input.knowledge).toEqual({
    query: 'How long are returns taken?',
    isIncomplete: false,
    passages: [
      {
        sourceId: publicId,
        sourceName: 'Handbook',
        seq: expect.any(Number),
        heading: null,
        page: null,
        score: expect.any(Number),
        byWords: { rank: 1, score: expect.any(Number) },
        byMeaning: null,
      },
    ],
  });
  const { stdout } = await admin('show', id);
  expect(stdout).toContain('\n  searched "How long are returns taken?": 1 passages\n');
  expect(stdout).toMatch(/\n {4}[\d.]+ Handbook [0-9a-f-]{36}\/\d+: by words 1\. \([\d.]+\), not by meaning\n/);
});

test('show prints what the model itself searched for, in the same form, and what nothing was found for', async () => {
  const worker = await startTestApp({ models: server.settings(), database: app.database, jobs: true });
  const { publicId } = await makeSource(worker, {
    name: 'Handbook',
    textContent: 'Returns are taken for thirty days.',
  });
  await processed(worker, publicId);
  const answers = await agentWith(worker, [{ kind: 'knowledge_source', id: publicId }]);
  const calls = ['Returns?', 'zebra'].map((query) => toolCall('search_knowledge', { query }));
  server.script({ reply: 'I look.', toolCalls: calls }, { reply: 'Thirty days.' });
  const { body } = await send(worker, answers, { content: 'How long?' }).expect(200);
  await worker.close();
  const [{ turnPublicId: id }] = await json('list', '--conversation', body.conversationId);
  const [, first, second] = (await json('show', id)).steps;
  const byWords = { rank: 1, score: expect.any(Number) };
  const place = { sourceId: publicId, sourceName: 'Handbook', seq: expect.any(Number), heading: null, page: null };
  const passages = [{ ...place, score: expect.any(Number), byWords, byMeaning: null }];
  expect(first.output).toMatchObject({ isError: false, text: expect.stringContaining('thirty days') });
  expect(first.output.knowledge).toEqual({ query: 'Returns?', isIncomplete: false, passages });
  expect(second.output.knowledge).toEqual({ query: 'zebra', isIncomplete: false, passages: [] });
  const { stdout } = await admin('show', id);
  expect(stdout).toMatch(
    /\n1 tool search_knowledge: .*\n {2}searched "Returns\?": 1 passages\n {4}[\d.]+ Handbook .*: by words 1\./,
  );
  expect(stdout).toMatch(/\n2 tool search_knowledge: .*\n {2}searched "zebra": 0 passages\n/);
  expect((await admin('show', id, '--step', '1')).stdout).toContain('\n  searched "Returns?": 1 passages\n');
});

test('show prints the approvals of a turn and their decisions', async () => {
  const tool = await postTool(app, tools, '/pay', { name: 'pay_later', requiresApproval: true });
  const careful = await agentWith(app, [{ kind: 'http_tool', id: tool.publicId }]);
  server.script({ reply: '', toolCalls: [{ ...payCall('Oslo'), name: 'pay_later' }] });
  const { body } = await send(app, careful, { content: 'Pay.' }).expect(200);
  const [{ publicId }] = body.pendingApprovals;
  await run(app.database, 'approval', 'reject', publicId);
  const [{ turnPublicId: id }] = await json('list', '--conversation', body.conversationId);
  expect((await json('show', id)).approvals).toEqual([
    {
      approvalPublicId: publicId,
      toolName: 'pay_later',
      status: 'rejected',
      requestedAt: expect.any(String),
      decidedAt: expect.any(String),
      decidedBy: 'operator',
    },
  ]);
  const { stdout } = await admin('show', id);
  expect(stdout).toContain(`approval     ${publicId} pay_later rejected by operator\n`);
  expect(stdout).toContain('\n1 tool pay_later: depth 0, waiting\n');
});

test('show says that a turn has no steps any more, and shows the rest of it', async () => {
  const conversationId = await paid();
  const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
  await app.workspace.db.deleteFrom('turn_steps').where('turn_id', '=', id).execute();
  const { stdout } = await admin('show', id);
  expect(stdout).toContain('status       done');
  expect(stdout).toContain('used         250 in, 15 out');
  expect(stdout).toContain('assistant    "I pay.');
  expect(stdout).toContain('\n\nNo steps are stored. They are removed after GUILDHALL_KEEP_STEPS_DAYS days');
  expect(await json('show', id)).toMatchObject({ status: 'done', steps: [], messages: [{}, {}] });
});

test('names and errors from models and tools cannot move the cursor', async () => {
  const conversationId = await paid();
  const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
  const { db } = app.workspace;
  await db.updateTable('turn_steps').set({ name: 'pay\u001b[2J' }).where('turn_id', '=', id).execute();
  const failed = { status: 'failed', error_code: 'MODEL_PROVIDER_ERROR', error_message: 'Gone\r\u009b2J' } as const;
  await db.updateTable('turns').set(failed).where('id', '=', id).execute();
  const { stdout } = await admin('show', id);
  expect(stdout).toContain('pay\\u001b[2J: depth');
  expect(stdout).toContain('(MODEL_PROVIDER_ERROR: Gone\\u000d\\u009b2J)');
});

test('an unknown turn, or one in a deleted conversation, exits with 1', async () => {
  const conversationId = await paid();
  const [{ turnPublicId: id }] = await json('list', '--conversation', conversationId);
  await app.api('delete', `/conversations/${conversationId}`).expect(204);
  for (const each of [newId(), conversationId]) {
    const stderr = `error: There is no conversation ${each}\n`;
    expect(await admin('list', '--conversation', each)).toEqual({ code: 1, stdout: '', stderr });
  }
  for (const each of [newId(), id]) {
    expect(await admin('show', each)).toEqual({ code: 1, stdout: '', stderr: `error: There is no turn ${each}\n` });
  }
});

test.each([
  [['list'], '--conversation is missing'],
  [['list', '--conversation', 'mine'], '--conversation must be a UUID'],
  [
    ['list', '--conversation', '019a0000-0000-7000-8000-000000000000', '--limit', '0'],
    '--limit must be a whole number',
  ],
  [['show'], 'Expected 1 argument(s), got 0'],
  [['show', 'last'], 'TURNID must be a UUID'],
])('%j is a usage error', async (args, reason) => {
  const { code, stderr } = await admin(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});
