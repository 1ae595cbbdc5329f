import { examineAgent } from '../../../domain/agents/check/checkAgent.ts';
import { addModel, makeReadyAgent, publish, setStatus } from '../../support/agents/agents.ts';
import { linkApi, makeTarget } from '../../support/agents/links.ts';
import { link } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectRemote } from '../../support/tools/toolkits.ts';

let app: TestApp;
let registry: ToolkitRegistry;
beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({ toolkits: { composio: registry.access } });
});
afterEach(() => {
  registry.fault = undefined;
});
afterAll(async () => {
  await app.close();
  await registry.close();
});

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
  await link(app, publicId, linkApi('knowledge_source').kind, source);
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
