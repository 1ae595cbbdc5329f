import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { newId } from '../../../../core/ids.ts';
import { makeAgent, makeReadyAgent, publish } from '../../../support/agents/agents.ts';
import { useModelApp } from '../../../support/http/modelApp.ts';
import { until } from '../../../support/poll.ts';
import { gatedReply } from '../../../support/servers/modelServer.ts';

const here = useModelApp();
let agentId: string;
const open: Client[] = [];

beforeAll(async () => {
  const { app } = here;
  const { publicId } = await makeAgent(app, {
    name: 'Returns desk',
    description: 'Answers questions about returns.',
    aiModelPublicId: await modelId(),
  });
  await publish(app, publicId);
  agentId = publicId;
});
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

async function modelId(): Promise<string> {
  const { body } = await here.app.api('get', '/ai-models');
  return body.find(({ provider }: { provider: string }) => provider !== 'builtin').publicId;
}

async function connect(
  id: string,
  mode: 'auto' | 'legacy' = 'auto',
  apiKey = here.app.workspace.apiKey,
): Promise<Client> {
  const client = new Client({ name: 'a-test', version: '1' }, { versionNegotiation: { mode } });
  open.push(client);
  const url = new URL(`${here.app.origin}/mcp/agents/${id}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'X-Api-Key': apiKey } } }));
  return client;
}

describe.each(['auto', 'legacy'] as const)('a published agent as a server (%s)', (mode) => {
  test('is called by its name, and has one tool that says what it is for', async () => {
    const client = await connect(agentId, mode);
    expect(client.getServerVersion()).toMatchObject({ title: 'Returns desk' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name, title }) => [name, title])).toEqual([['ask', 'Ask Returns desk']]);
    expect(tools[0]?.description).toContain('Answers questions about returns.');
  });

  test('answers, and goes on with the conversation that the answer names', async () => {
    const client = await connect(agentId, mode);
    here.server.script({ reply: 'Within 30 days.' }, { reply: 'Yes, without the box.' });
    const first = await client.callTool({ name: 'ask', arguments: { message: 'How long?' } });
    expect(first.structuredContent).toMatchObject({ answer: 'Within 30 days.', pending_approvals: [] });
    const { conversation_id } = first.structuredContent as { conversation_id: string };
    expect(JSON.stringify(first.content)).toContain(conversation_id);
    const second = await client.callTool({ name: 'ask', arguments: { message: 'And the box?', conversation_id } });
    expect(second.structuredContent).toMatchObject({ conversation_id, answer: 'Yes, without the box.' });
    const { body } = await here.app.api('get', `/conversations/${conversation_id}/messages`);
    expect(body.total).toBe(4);
  });

  test('says how far it is, to a client that asks for progress', async () => {
    const client = await connect(agentId, mode);
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    const progress: string[] = [];
    const answer = client.callTool(
      { name: 'ask', arguments: { message: 'How long?' } },
      { onprogress: ({ message }) => progress.push(message ?? '') },
    );
    gate.push('Within 30 ');
    await until(() => progress.length > 0);
    expect(progress).toEqual(['Within 30 ']);
    gate.push('days.');
    gate.end();
    expect((await answer).structuredContent).toMatchObject({ answer: 'Within 30 days.' });
  });

  test('waits no longer for an answer that its client has given up, and the agent completes it', async () => {
    const client = await connect(agentId, mode);
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    const given = new AbortController();
    const answer = client.callTool({ name: 'ask', arguments: { message: 'Given up?' } }, { signal: given.signal });
    await here.server.received(1);
    given.abort();
    await expect(answer).rejects.toThrow();
    gate.push('Nobody hears this.');
    gate.end();
    expect(await here.server.requests[0]?.closed).toBe(false);
  });

  test('gives errors of the API to the model, with their code', async () => {
    const client = await connect(agentId, mode);
    const unknown = await client.callTool({ name: 'ask', arguments: { message: 'Hi', conversation_id: newId() } });
    expect(unknown.isError).toBe(true);
    expect(JSON.stringify(unknown.content)).toContain('CONVERSATION_NOT_FOUND');
    const wrong = await client.callTool({ name: 'ask', arguments: { mesage: 'Hi' } });
    expect(JSON.stringify(wrong.content)).toContain('ask has no argument mesage.');
  });

  test('is not there for an id that is unknown, not published, or another workspace’s', async () => {
    const { app } = here;
    const draft = await makeReadyAgent(app);
    const { stranger } = app;
    const foreign = await makeReadyAgent(app, {}, stranger.apiKey);
    await publish(app, foreign.publicId, undefined, stranger.apiKey);
    const unknown = newId();
    const absent = (id: string) => `No agent with the id ${id} exists in the workspace of this key.`;
    await expect(connect(unknown, mode)).rejects.toThrow(absent(unknown));
    await expect(connect(foreign.publicId, mode)).rejects.toThrow(absent(foreign.publicId));
    await expect(connect('not-an-id', mode)).rejects.toThrow(absent('not-an-id'));
    await expect(connect(draft.publicId, mode)).rejects.toThrow('is not published');
    await expect(connect(agentId, mode, stranger.apiKey)).rejects.toThrow(absent(agentId));
  });
});

test('another workspace’s agent cannot be asked by its id either', async () => {
  const { app } = here;
  const response = await app.raw
    .post(`/mcp/agents/${agentId}`)
    .set({ 'X-Api-Key': app.stranger.apiKey, Accept: 'application/json, text/event-stream' })
    .send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: { message: 'Hi' } } });
  expect(response.text).toContain('AGENT_NOT_FOUND');
  expect(here.server.requests).toHaveLength(0);
});
