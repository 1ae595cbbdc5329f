import { GuildhallError, guildhall, type StreamEvent } from '../../../clients/sdk/index.ts';
import { publishedAgent } from '../../http/messages/turns.ts';
import { useModelApp } from '../../support/http/modelApp.ts';

const here = useModelApp();
const client = () => guildhall({ apiKey: here.app.workspace.apiKey, baseUrl: here.app.origin });

/** What was thrown. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('an agent is made, read, changed and deleted', async () => {
  const api = client();
  const { publicId } = await api.call('createAgent', { body: { name: 'Shop' } });
  const path = { agentPublicId: publicId };
  expect((await api.call('updateAgent', { path, body: { description: 'Sells.' } })).description).toBe('Sells.');
  expect((await api.call('getAgent', { path })).name).toBe('Shop');
  expect(await api.call('deleteAgent', { path })).toBeUndefined();
});

test('an error has the code, the status, the details and the request', async () => {
  const missing = await errorOf(client().call('getAgent', { path: { agentPublicId: crypto.randomUUID() } }));
  if (!GuildhallError.of(missing, 'getAgent')) throw missing;
  expect(missing).toMatchObject({ code: 'AGENT_NOT_FOUND', status: 404, operationId: 'getAgent', details: [] });
  expect(missing.requestId).toMatch(/./);
  const wrong = await errorOf(client().call('createAgent', { body: { name: '' } }));
  expect(wrong).toMatchObject({ code: 'VALIDATION_ERROR', status: 400, details: expect.anything() });
  expect((wrong as GuildhallError).details.map(({ path }) => path)).toEqual(['/body/name', '/body/name']);
});

test('the items of every page come once, with the filters of the input', async () => {
  const api = client();
  const names = Array.from({ length: 5 }, (_, index) => `paged ${index}`);
  for (const name of names) await api.call('createAgent', { body: { name } });
  const found: string[] = [];
  for await (const agent of api.items('listAgents', { query: { search: 'paged', limit: 2 } })) found.push(agent.name);
  expect(found).toEqual(names.toReversed());
});

test('the elements of a list without pages are its items', async () => {
  const keys: string[] = [];
  const { publicId } = await client().call('createAgent', { body: { name: 'Features' } });
  for await (const { key } of client().items('listFeatures', { path: { agentPublicId: publicId } })) keys.push(key);
  expect(keys.length).toBeGreaterThan(3);
});

test('a file goes with its name, its type and its metadata', async () => {
  const data = new TextEncoder().encode('Goods can be returned within 30 days.');
  const source = await client().call('createKnowledgeSource', {
    file: { data, name: 'returns.md', type: 'text/markdown' },
    metadata: { name: 'Returns' },
  });
  expect(source).toMatchObject({ name: 'Returns', sourceType: 'FILE_UPLOAD' });
  const text = new Blob(['---\nname: returns\ndescription: How to answer.\n---\nAsk first.\n']);
  const skill = await client().call('uploadSkill', { file: { data: text, name: 'SKILL.md' } });
  expect(skill.name).toBe('returns');
  const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  const hub = await client().call('uploadHubLogo', { path: { type: 'icon' }, file: { data: svg, name: 'icon.svg' } });
  expect(JSON.stringify(hub)).toContain('.svg');
});

test('the events of a reply come in order and end with the one last event', async () => {
  const agentPublicId = await publishedAgent(here.app);
  const events: StreamEvent[] = [];
  for await (const event of client().events({ path: { agentPublicId }, body: { content: 'Hello' } }))
    events.push(event);
  expect(events.map(({ event }) => event)).toEqual([
    'conversation-id',
    ...events.slice(1, -1).map(() => 'text-delta'),
    'debug-info',
  ]);
  expect(events.length).toBeGreaterThan(2);
});

test('the typed client of openapi-fetch has the same key', async () => {
  const { data, error } = await client().http.GET('/health');
  expect([data?.status, error]).toEqual(['ok', undefined]);
  const created = await client().http.POST('/agents', { body: { name: 'By path' } });
  expect(created.data?.name).toBe('By path');
});

test('any path of the API can be sent, and its status does not throw', async () => {
  const api = client();
  const whole = `${here.app.origin}/public/api/v1/health`;
  for (const path of ['health', '/health', '/public/api/v1/health', whole]) {
    const response = await api.send({ method: 'get', path });
    expect([path, response.status, ((await response.json()) as { status: string }).status]).toEqual([path, 200, 'ok']);
  }
  const query = [
    ['limit', '1'],
    ['categories', 'a'],
    ['categories', 'b'],
  ] as const;
  expect((await api.send({ method: 'GET', path: 'agents?page=1', query })).status).toBe(200);
  expect((await api.send({ method: 'GET', path: 'nowhere' })).status).toBe(404);
});
