// Longer than most: each warning needs a draft with its own fault, on a service that takes seconds to start.
import { pino } from 'pino';
import { agentWarningsText } from '../../../clients/sdk/agentWarnings.ts';
import { systemClock } from '../../../core/clock.ts';
import { newId } from '../../../core/ids.ts';
import { examineAgent } from '../../../domain/agents/check/checkAgent.ts';
import { publishWarnings } from '../../../domain/agents/check/publishWarnings.ts';
import { agentWarningsHeader } from '../../../handlers/agents/agentWarnings.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { addModel, makeAgent, makeReadyAgent, makeVariable, publish, setStatus } from '../../support/agents/agents.ts';
import { type linkApi, makeTarget } from '../../support/agents/links.ts';
import { link } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { until } from '../../support/poll.ts';
import { adminJson, admin as run } from '../../support/scripts/admin.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectRemote } from '../../support/tools/toolkits.ts';

let app: TestApp;
let registry: ToolkitRegistry;
const logged: string[] = [];
beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({
    logger: pino({ level: 'warn' }, { write: (line) => void logged.push(line) }),
    toolkits: { composio: registry.access },
  });
});
afterEach(() => {
  registry.fault = undefined;
});
afterAll(async () => {
  await app.close();
  await registry.close();
});

const publishing = (id: string, key?: string) => {
  const request = app.api('post', `/agents/${id}/publish`);
  return key === undefined ? request : request.set('Idempotency-Key', key);
};

async function check(
  agentId: string,
): Promise<{ warnings: { code: string; subject: string | null; message: string }[]; fixed: object }> {
  return adminJson(app.database, 'agent', 'check', agentId);
}

const codes = async (agentId: string) =>
  (await check(agentId)).warnings.map(({ code, subject }) => (subject === null ? code : `${code}: ${subject}`));

const examine = (agentId: string) => {
  const { db, workspaceId } = app.workspace;
  return examineAgent({ db, workspaceId, runtime: app.service.runtime, clock: app.clock }, agentId);
};
const warned = async (agentId: string) => (await examine(agentId)).warnings;

/** A sub-agent that could be delegated to. */
async function published(): Promise<string> {
  const { publicId } = await makeReadyAgent(app);
  await publish(app, publicId);
  return publicId;
}

test('an agent with nothing wrong is published without warnings', async () => {
  const { publicId } = await makeReadyAgent(app, { systemPrompt: 'Hello {{city}}.', dynamicPromptEnabled: true });
  await makeVariable(app, publicId, { name: 'city' });
  expect(await codes(publicId)).toEqual([]);
  const { status, headers } = await publishing(publicId);
  expect([status, headers['agent-warnings']]).toEqual([200, undefined]);
});

test('variables of the prompt that nothing fills in are named, built-in ones are known', async () => {
  const systemPrompt =
    'In {{city}}, {{City}}, {{ first name }} on {{current_date}} at {{current_time}}, {{time_zone}}.';
  const { publicId } = await makeReadyAgent(app, { systemPrompt, dynamicPromptEnabled: true });
  const expected = ['city', 'City', 'first name'].map((name) => `variable_not_defined: ${name}`);
  expect(await codes(publicId)).toEqual(expected);
  const { status, headers } = await publishing(publicId);
  expect(status).toBe(200);
  expect(headers['agent-warnings']).toBe(
    'variable_not_defined;subject=%"city", variable_not_defined;subject=%"City", variable_not_defined;subject=%"first name"',
  );
});

test.each([
  [true, [...Array.from({ length: 20 }, (_, place) => `n${place}`), null], /^The prompt refers to 5 more names/],
  [false, ['n0'], /\{\{n19\}\} and 5 more such names, and nothing is filled in/],
])(
  'of many names in braces 20 are told, and how many more there are, with dynamicPromptEnabled %s',
  async (dynamicPromptEnabled, subjects, last) => {
    const systemPrompt = Array.from({ length: 25 }, (_, place) => `{{n${place}}}`).join();
    const { publicId } = await makeReadyAgent(app, { systemPrompt, dynamicPromptEnabled });
    const warnings = await warned(publicId);
    expect(warnings.map(({ subject }) => subject)).toEqual(subjects);
    expect(warnings.at(-1)?.message).toMatch(last);
  },
);

test('a prompt with variables that are not rendered is told', async () => {
  const { publicId } = await makeReadyAgent(app, { systemPrompt: 'Hello {{town}}, {{other}}.' });
  await makeVariable(app, publicId, { name: 'town' });
  expect(await codes(publicId)).toEqual(['variables_not_filled_in: town', 'braces_left_as_text: other']);
});

test('braces that nobody fills in are told where no variables are rendered, and in one warning', async () => {
  const systemPrompt = 'You work for {{company}}, {{Company}}, {{ company }}. Write {{}} and { {x} }.';
  const { publicId } = await makeReadyAgent(app, { systemPrompt });
  const { warnings } = await check(publicId);
  expect(warnings.map(({ code }) => code)).toEqual(['braces_left_as_text']);
  expect(warnings[0]?.message).toContain('{{company}}, {{Company}}, and nothing is filled in');
  expect(warnings[0]?.message).toContain('switch dynamicPromptEnabled on');
  logged.length = 0;
  const { headers } = await publishing(publicId);
  expect(headers['agent-warnings']).toBe('braces_left_as_text;subject=%"company"');
  await until(() => logged.join().includes('braces_left_as_text'));
});

test.each([true, false])(
  'braces that are meant as text are not told, with dynamicPromptEnabled %s',
  async (dynamicPromptEnabled) => {
    const systemPrompt = 'Write \\{{city}}, {{ }}, {{\t}}, {{"order": 1}}, {{\'a\'}} and {{\n}}.';
    const { publicId } = await makeReadyAgent(app, { systemPrompt, dynamicPromptEnabled });
    expect(await codes(publicId)).toEqual([]);
  },
);

test('links whose targets cannot be used are named', async () => {
  const { publicId } = await makeReadyAgent(app);
  const linked = async (kind: Parameters<typeof linkApi>[0]) => {
    const target = await makeTarget(app, kind);
    await link(app, publicId, kind, target);
    return target;
  };
  const [skill, source, server, agent, tool] = [
    await linked('skill'),
    await linked('knowledge_source'),
    await linked('external_mcp'),
    await linked('sub_agent'),
    await linked('http_tool'),
  ];
  const { db } = app.workspace;
  await db.updateTable('agent_links').set({ active: false }).where('target_id', '=', skill).execute();
  await db
    .updateTable('external_mcps')
    .set({ status: 'ERROR', error_message: 'Down.' })
    .where('id', '=', server)
    .execute();
  await db
    .updateTable('knowledge_sources')
    .set({ processing_status: 'PENDING', last_processed_at: null })
    .where('id', '=', source)
    .execute();
  await db.updateTable('http_tools').set({ deleted_at: new Date() }).where('id', '=', tool).execute();
  expect((await codes(publicId)).map((text) => text.split(':')[0])).toEqual([
    'link_switched_off',
    'knowledge_source_not_ready',
    'mcp_server_not_connected',
    'sub_agent_not_published',
    'link_target_deleted',
  ]);
  expect(agent).not.toBe(publicId);
  expect((await publishing(publicId)).status).toBe(200);
});

test('features that the server has no service for are named', async () => {
  const features = {
    webSearchEnabled: true,
    audioListeningEnabled: true,
    audioResponseEnabled: true,
    ttsVoice: 'alloy',
  };
  const { publicId } = await makeReadyAgent(app, features);
  expect(await codes(publicId)).toEqual([
    'web_search_not_configured',
    'transcription_not_configured',
    'speech_not_configured',
  ]);
});

test('a model that is gone, or whose provider is not configured, is named', async () => {
  const none = await makeAgent(app);
  expect(await codes(none.publicId)).toEqual(['model_missing']);
  const modelId = await addModel(app.workspace, { provider: 'openai', model_id: 'gpt-4o' });
  const { publicId } = await makeAgent(app, { aiModelPublicId: modelId });
  expect((await codes(publicId))[0]).toMatch(/^model_not_configured: /);
  await app.workspace.db.updateTable('ai_models').set({ deleted_at: new Date() }).where('id', '=', modelId).execute();
  expect(await codes(publicId)).toEqual(['model_missing']);
});

test('a fixed prompt that takes much of the window of its model is told with its tokens', async () => {
  const { publicId } = await makeReadyAgent(app, { systemPrompt: 'word '.repeat(9_000) });
  const { warnings, fixed } = await check(publicId);
  expect(warnings).toMatchObject([{ code: 'fixed_prompt_large' }]);
  expect(fixed).toMatchObject({ contextWindow: BUILTIN_MODEL.contextWindow, tools: 0 });
  expect((fixed as { promptTokens: number }).promptTokens).toBeGreaterThan(8_900);
  expect((await publishing(publicId)).headers['agent-warnings']).toBe('fixed_prompt_large');
});

test('more tools than a model is told about are counted', async () => {
  const { publicId } = await makeReadyAgent(app);
  const server = await makeTarget(app, 'external_mcp');
  await link(app, publicId, 'external_mcp', server);
  const tools = Array.from({ length: 140 }, (_, place) => ({
    id: newId(),
    name: `tool_${place}`,
    description: null,
    enabled: true,
  }));
  const { db } = app.workspace;
  const change = { tools: JSON.stringify(tools) as never, status: 'CONNECTED' as const };
  await db.updateTable('external_mcps').set(change).where('id', '=', server).execute();
  expect(await codes(publicId)).toEqual(['tools_over_limit']);
});

test('a retry with the Idempotency-Key has the kept answer with its header, although the agent has changed', async () => {
  const { publicId } = await makeReadyAgent(app, { webSearchEnabled: true });
  const key = newId();
  const first = await publishing(publicId, key);
  expect([first.status, first.headers['agent-warnings']]).toEqual([200, 'web_search_not_configured']);
  await app.api('patch', `/agents/${publicId}/features/web-search`).send({ enabled: false });
  const again = await publishing(publicId, key);
  expect([again.body, again.headers['agent-warnings']]).toEqual([first.body, 'web_search_not_configured']);
  expect((await publishing(publicId, newId())).headers['agent-warnings']).toBeUndefined();
});

test('a publication waits for no check that takes long, and does not fail with it', async () => {
  const { publicId } = await makeReadyAgent(app, { webSearchEnabled: true });
  logged.length = 0;
  const { db, workspaceId } = app.workspace;
  const context = { db, workspaceId, runtime: app.service.runtime, clock: systemClock };
  expect(await publishWarnings({ ...context, deadlineMs: 0 }, publicId)).toBeUndefined();
  expect(logged.join()).toContain('more than 0 ms');
  await until(() => logged.join().includes('web_search_not_configured'));
  const broken = { ...context, db: undefined as never };
  expect(await publishWarnings(broken, publicId)).toBeUndefined();
});

test('the header stays small, escapes what is not ASCII, and counts what does not fit', () => {
  expect(agentWarningsHeader([])).toBeUndefined();
  const of = (subject: string) => ({ code: 'variable_not_defined' as const, subject, message: '' });
  expect(agentWarningsHeader([of('Größe "x" 100%')])).toBe(
    'variable_not_defined;subject=%"Gr%c3%b6%c3%9fe %22x%22 100%25"',
  );
  const many = agentWarningsHeader(Array.from({ length: 200 }, (_, place) => of(`variable ${place}`))) ?? '';
  expect(many.length).toBeLessThan(1_600);
  expect(many).toMatch(/, more;count=\d+$/);
});

test('the header as people read it is one line, whatever a name has', () => {
  const warning = (subject: string) => ({ code: 'sub_agent_not_published' as const, subject, message: '' });
  const names = [
    'Größe, "q" (1) %41',
    'a\nb\u001b[31m\u202e',
    ...Array.from({ length: 10_000 }, (_, place) => `😀${place}`),
  ];
  const header = agentWarningsHeader(names.map(warning)) ?? '';
  const text = agentWarningsText({ headers: new Headers({ 'Agent-Warnings': header }) }) ?? '';
  expect(text.split(', sub_agent_not_published ').slice(0, 3)).toEqual([
    'sub_agent_not_published (Größe, "q" (1) %41)',
    '(a\\u000ab\\u001b[31m\\u202e)',
    '(😀0)',
  ]);
  expect(text).toMatch(/\), 9\d\d\d more$/);
});

test('agent check prints a table for people, and refuses an agent that is not there', async () => {
  const { publicId } = await makeReadyAgent(app, { webSearchEnabled: true });
  const workspace = ['--workspace', app.workspace.workspaceId];
  const { code, stdout } = await run(app.database, 'agent', 'check', ...workspace, publicId);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^WARNING +ABOUT +WHAT\nweb_search_not_configured /);
  expect(stdout).toMatch(/each request: \d+ tokens, [\d.]+ % of the window of 32000 \(prompt \d+, \d+ tools \d+\)/);
  const missing = await run(app.database, 'agent', 'check', newId());
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('There is no agent')]);
  const stranger = await makeReadyAgent(app, {}, app.stranger.apiKey);
  expect((await run(app.database, 'agent', 'check', ...workspace, stranger.publicId)).code).toBe(1);
});

test('a sub-agent that is switched off is named, and a published one is not', async () => {
  const { publicId } = await makeReadyAgent(app);
  const [off, on] = [await published(), await published()];
  for (const each of [off, on]) await link(app, publicId, 'sub_agent', each);
  expect(await warned(publicId)).toEqual([]);
  await setStatus(app.workspace, off, 'inactive');
  expect(await warned(publicId)).toEqual([
    {
      code: 'sub_agent_not_published',
      subject: expect.any(String),
      message: expect.stringContaining('is inactive, so nothing can be delegated'),
    },
  ]);
});

test('however many links an agent has, they are read with the same few statements, and 100 warnings are logged', async () => {
  const { publicId } = await makeReadyAgent(app);
  const { db, workspaceId } = app.workspace;
  let statements = 0;
  const counting = db.withPlugin({
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const count = async () => {
    statements = 0;
    await examineAgent({ db: counting, workspaceId, runtime: app.service.runtime, clock: app.clock }, publicId);
    return statements;
  };
  const none = await count();
  const { id: _id, ...agent } = await db
    .selectFrom('agents')
    .selectAll()
    .where('id', '=', await published())
    .executeTakeFirstOrThrow();
  const names = Array.from({ length: 120 }, (_, place) => ({ ...agent, id: newId(), name: `Sub ${place}` }));
  await db.insertInto('agents').values(names).execute();
  const links = names.map(({ id }) => ({
    workspace_id: workspaceId,
    agent_id: publicId,
    kind: 'sub_agent' as const,
    target_id: id,
    ai_model_id: newId(),
  }));
  await db.insertInto('agent_links').values(links).execute();
  expect(await count()).toBe(none);
  // The tools of so many sub-agents are a large part of the window.
  expect((await warned(publicId)).map(({ code }) => code)).toEqual([
    ...names.map(() => 'model_missing'),
    'fixed_prompt_large',
  ]);
  logged.length = 0;
  const { headers } = await publishing(publicId);
  expect(headers['agent-warnings']).toMatch(/^model_missing;subject=%"Sub 0", .*, more;count=\d+$/);
  expect(JSON.parse(logged.find((line) => line.includes(publicId)) ?? '{}')).toMatchObject({
    count: 121,
    warnings: { length: 100 },
  });
});

test('two checks of a workspace run at a time, and those of others do not wait for them', async () => {
  const { publicId } = await makeReadyAgent(app, { webSearchEnabled: true });
  const other = await makeReadyAgent(app, { webSearchEnabled: true }, app.stranger.apiKey);
  const held = Promise.withResolvers<void>();
  let begun = 0;
  const slow = app.workspace.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await held.promise;
      return result;
    },
  });
  const { runtime } = app.service;
  const context = { runtime, clock: systemClock, deadlineMs: 60_000 };
  const { workspaceId } = app.workspace;
  const own = {
    ...context,
    workspaceId,
    get db() {
      begun += 1;
      return slow;
    },
  };
  const all = Array.from({ length: 20 }, () => publishWarnings(own, publicId));
  const theirs = await publishWarnings({ ...context, ...app.stranger }, other.publicId);
  expect(theirs).toMatchObject([{ code: 'web_search_not_configured' }]);
  // One that cannot begin in time is left out.
  expect(await publishWarnings({ ...context, db: slow, workspaceId, deadlineMs: 1 }, publicId)).toBeUndefined();
  expect(begun).toBe(2);
  held.resolve();
  expect((await Promise.all(all)).map((warnings) => warnings?.length)).toEqual(all.map(() => 1));
});

test('a model that the link to a sub-agent names, and that is gone, is named', async () => {
  const { publicId } = await makeReadyAgent(app);
  const model = await addModel(app.workspace);
  const sub = await published();
  await app.workspace.db.updateTable('agents').set({ name: 'Ann of Sales' }).where('id', '=', sub).execute();
  await link(app, publicId, 'sub_agent', sub, { aiModelPublicId: model });
  expect(await warned(publicId)).toEqual([]);
  await app.workspace.db.updateTable('ai_models').set({ deleted_at: new Date() }).where('id', '=', model).execute();
  expect(await warned(publicId)).toMatchObject([
    { code: 'model_missing', message: expect.stringContaining('the link to the sub-agent “Ann of Sales”') },
  ]);
});

test('of a knowledge source it is told whether it failed, or is not read yet', async () => {
  const { publicId } = await makeReadyAgent(app);
  const source = await makeTarget(app, 'knowledge_source');
  await link(app, publicId, 'knowledge_source', source);
  const stands = async (processing_status: 'COMPLETED' | 'FAILED' | 'PROCESSING') => {
    const error_message = processing_status === 'FAILED' ? 'Unreadable.' : null;
    const last_processed_at = processing_status === 'PROCESSING' ? null : new Date();
    const change = { processing_status, error_message, last_processed_at };
    await app.workspace.db.updateTable('knowledge_sources').set(change).where('id', '=', source).execute();
    return (await warned(publicId)).map(({ message }) => message);
  };
  expect(await stands('COMPLETED')).toEqual([]);
  expect(await stands('FAILED')).toEqual([expect.stringMatching(/could not be read.*errorMessage says why/)]);
  expect(await stands('PROCESSING')).toEqual([expect.stringMatching(/is not read yet \(PROCESSING\)/)]);
});

test('a toolkit whose tools cannot be read is named, in the header of the publication too', async () => {
  const { publicId } = await makeReadyAgent(app);
  const { id } = await connectRemote(app.workspace, registry);
  await app
    .api('post', `/agents/${publicId}/native-mcps`)
    .send({ connectionPublicIds: [id] })
    .expect(200);
  registry.fault = { status: 500 };
  const { headers } = await app.api('post', `/agents/${publicId}/publish`).expect(200);
  expect(headers['agent-warnings']).toMatch(/^toolkit_unreachable;subject=/);
});

test('tools count as a part of the fixed prompt', async () => {
  const { publicId } = await makeReadyAgent(app, { systemPrompt: 'Be kind.' });
  const server = await makeTarget(app, 'external_mcp');
  await link(app, publicId, 'external_mcp', server);
  const description = 'word '.repeat(190);
  const tools = Array.from({ length: 60 }, (_, place) => ({
    id: `tool-${place}`,
    name: `tool_${place}`,
    description,
    enabled: true,
  }));
  const change = { tools: JSON.stringify(tools) as never };
  await app.workspace.db.updateTable('external_mcps').set(change).where('id', '=', server).execute();
  const { warnings, fixed } = await examine(publicId);
  expect(warnings).toMatchObject([{ code: 'fixed_prompt_large', message: expect.stringContaining('of the model') }]);
  expect(fixed?.toolTokens).toBeGreaterThan(60 * 190);
  expect(fixed?.promptTokens).toBeLessThan(100);
});
