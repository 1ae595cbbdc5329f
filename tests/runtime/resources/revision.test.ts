import type { Kysely } from 'kysely';
import { softDeleteCustomModel } from '../../../db/queries/agents/aiModels.ts';
import { updateExternalMcpRow } from '../../../db/queries/tools/externalMcps.ts';
import { updateHttpToolRow } from '../../../db/queries/tools/httpTools.ts';
import { softDeleteConnection } from '../../../db/queries/tools/nativeConnections.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { DB } from '../../../generated/db.ts';
import { addModel, makeAgent, makeReadyAgent, makeVariable, publish, setStatus } from '../../support/agents/agents.ts';
import { LINK_APIS, link, makeTarget } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';
import { revisionOf } from '../agent/published.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const ids: Record<string, string> = {};

/** Each kind of thing that an agent can be linked to, and an agent. */
beforeEach(async () => {
  for (const kind of ['skill', 'external_mcp', 'native_mcp', 'knowledge_source'] as const)
    ids[kind] = await makeTarget(app, kind);
  ids.tool = (await makeTool(app)).publicId;
  ids.agent = (await makeReadyAgent(app)).publicId;
  ids.model = await addModel(app.workspace);
});

const db = () => app.workspace.db;
const workspaceId = () => app.workspace.workspaceId;
const patch = (path: string, body: object) => app.api('patch', path).send(body).expect(200);
const remove = (path: string) => app.api('delete', path).expect(204);
const name = () => `renamed-${crypto.randomUUID()}`;
const rename = (on: Kysely<DB>, id: string) => updateHttpToolRow(on, workspaceId(), id, { name: name() });

describe('the revision goes up when', () => {
  test.each<[string, () => PromiseLike<unknown>]>([
    ['a tool is created', () => makeTool(app)],
    ['a tool is renamed', () => patch(`/http-tools/${ids.tool}`, { name: name() })],
    ['a tool needs approval from now on', () => patch(`/http-tools/${ids.tool}`, { requiresApproval: true })],
    ['a tool is deleted', () => remove(`/http-tools/${ids.tool}`)],
    ['a server is renamed', () => patch(`/external-mcps/${ids.external_mcp}`, { name: name() })],
    ['a server is deleted', () => remove(`/external-mcps/${ids.external_mcp}`)],
    ['a skill is described anew', () => patch(`/skills/${ids.skill}`, { description: 'Does other things' })],
    ['a skill is deleted', () => remove(`/skills/${ids.skill}`)],
    ['a connection is added', () => makeTarget(app, 'native_mcp')],
    ['a connection is deleted', () => softDeleteConnection(db(), workspaceId(), String(ids.native_mcp), new Date())],
    ['a model is added', () => addModel(app.workspace)],
    ['a model is deleted', () => softDeleteCustomModel(db(), workspaceId(), String(ids.model), new Date())],
    ['an agent is published', () => publish(app, String(ids.agent))],
    ['an agent is renamed', () => patch(`/agents/${ids.agent}`, { name: name() })],
    ['an agent is described anew', () => patch(`/agents/${ids.agent}`, { description: 'Knows taxes' })],
    ['an agent is switched off', () => setStatus(app.workspace, String(ids.agent), 'inactive')],
    ['an agent is deleted', () => remove(`/agents/${ids.agent}`)],
  ])('%s', async (_what, change) => {
    const before = await revisionOf(app.workspace);
    const theirs = await revisionOf(app.stranger);
    await change();
    expect(await revisionOf(app.workspace)).toBeGreaterThan(before);
    expect(await revisionOf(app.stranger)).toBe(theirs);
  });

  test('a server’s discovery has ended', async () => {
    const before = await revisionOf(app.workspace);
    const outcome = { status: 'ERROR', error_message: 'It is down.' } as const;
    await updateExternalMcpRow(db(), workspaceId(), String(ids.external_mcp), outcome);
    expect(await revisionOf(app.workspace)).toBe(before + 1);
  });
});

describe('the revision stays when', () => {
  const linked = (kind: string, id?: string) => {
    const api = LINK_APIS.find((one) => one.kind === kind);
    if (!api) throw new Error(kind);
    return link(app, String(ids.agent), api, String(id));
  };

  test.each<[string, () => PromiseLike<unknown>]>([
    ['an agent is created', () => makeAgent(app)],
    ['a draft is edited', () => patch(`/agents/${ids.agent}`, { systemPrompt: 'Be brief.', temperature: 0.5 })],
    ['a draft is linked', () => linked('http_tool', ids.tool)],
    ['a draft gets a variable', () => makeVariable(app, String(ids.agent))],
    ['knowledge is described anew', () => patch(`/knowledge-sources/${ids.knowledge_source}`, { description: 'New' })],
    [
      'knowledge is processed',
      () =>
        db()
          .updateTable('knowledge_sources')
          .set({ processing_status: 'COMPLETED', last_processed_at: new Date() })
          .where('id', '=', String(ids.knowledge_source))
          .execute(),
    ],
  ])('%s', async (_what, change) => {
    const before = await revisionOf(app.workspace);
    await change();
    expect(await revisionOf(app.workspace)).toBe(before);
  });

  test('a change is rolled back', async () => {
    const before = await revisionOf(app.workspace);
    const failing = inTransaction(db(), async (trx) => {
      await rename(trx, String(ids.tool));
      throw new Error('Rolled back.');
    });
    await expect(failing).rejects.toThrow('Rolled back.');
    expect(await revisionOf(app.workspace)).toBe(before);
  });
});

test('the revision becomes visible with the change, not before', async () => {
  const before = await revisionOf(app.workspace);
  await inTransaction(db(), async (trx) => {
    await rename(trx, String(ids.tool));
    expect(await revisionOf(app.workspace)).toBe(before);
  });
  expect(await revisionOf(app.workspace)).toBe(before + 1);
});

test('two transactions that change rows in opposite order both succeed', async () => {
  const [a, b] = [(await makeTool(app)).publicId, (await makeTool(app)).publicId];
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const attempts: string[] = [];
  const one = inTransaction(db(), async (trx) => {
    attempts.push('one');
    await rename(trx, a);
    first.resolve();
    await second.promise;
    await rename(trx, b);
  });
  const two = inTransaction(db(), async (trx) => {
    attempts.push('two');
    await first.promise;
    // If the first change locked the revision, this one would wait for the other transaction, which waits for this one.
    await rename(trx, b);
    second.resolve();
  });
  await Promise.all([one, two]);
  expect(attempts.toSorted()).toEqual(['one', 'two']);
});

test('many concurrent publications and deletions all succeed and are all counted', async () => {
  const agents = await Promise.all(Array.from({ length: 12 }, () => makeReadyAgent(app)));
  const tools = await Promise.all(Array.from({ length: 12 }, () => makeTool(app)));
  const before = await revisionOf(app.workspace);
  const answers = await Promise.all([
    ...agents.map(({ publicId }) => app.api('post', `/agents/${publicId}/publish`).send({})),
    ...tools.map(({ publicId }) => app.api('delete', `/http-tools/${publicId}`)),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([...agents.map(() => 200), ...tools.map(() => 204)]);
  expect(await revisionOf(app.workspace)).toBeGreaterThanOrEqual(before + 24);
});
