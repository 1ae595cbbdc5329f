import { pino } from 'pino';
import { newId } from '../../../core/ids.ts';
import { makeReadyAgent, withoutRequestId } from '../../support/agents/agents.ts';
import { link } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { adminJson } from '../../support/scripts/admin.ts';
import { startMcpServer, type TestMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { startRawMcp, tool } from '../../support/servers/mcpHostile.ts';
import { gate, readMcp, registerMcp, storedMcps, storeMcp } from '../../support/tools/mcpApi.ts';

const certificate = useCertificate();
const clock = new TestClock();
const log: Record<string, unknown>[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void log.push(JSON.parse(line)) });
let app: TestApp;
let server: TestMcpServer;

beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true, clock, logger });
  server = await startMcpServer(certificate);
});
afterAll(async () => {
  await server.close();
  await app.close();
});
beforeEach(() => {
  server.settings.authorize = () => true;
  server.settings.tools = { echo: 'Says it again', add: undefined };
  clock.advance(1000);
});

const discover = (id: string) => app.api('post', `/external-mcps/${id}/discover`);
const storedOf = async (publicId: string) => (await storedMcps(app.workspace)).find(({ id }) => id === publicId);

/** Changes columns that no operation of the API changes. */
async function set(id: string, columns: { tools?: string; credential?: Buffer; status?: 'PENDING' }): Promise<void> {
  const { db, workspaceId } = app.workspace;
  await db
    .updateTable('external_mcps')
    .set(columns)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

describe('200', () => {
  test('the list of tools is replaced: a tool with the same name keeps its id and whether it is enabled', async () => {
    const before = await registerMcp(app, { url: server.url });
    const [echo, add] = before.tools;
    await set(before.publicId, { tools: JSON.stringify([{ ...echo, enabled: false }, add]) });
    server.settings.tools = { more: 'New', echo: 'Says it twice' };
    clock.advance(1000);
    const { status, body } = await discover(before.publicId);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      tools: [
        { id: expect.any(String), name: 'more', description: 'New', enabled: true },
        { id: echo?.id, name: 'echo', description: 'Says it twice', enabled: false },
      ],
      lastDiscoveredAt: clock.now().toISOString(),
      updatedAt: clock.now().toISOString(),
    });
    expect([echo?.id, add?.id]).not.toContain(body.tools[0].id);
    expect(await readMcp(app, before.publicId)).toEqual(body);
    const schemas = (await storedOf(before.publicId))?.input_schemas as Record<string, { properties: object }>;
    expect(Object.keys(schemas).sort()).toEqual(body.tools.map(({ id }: { id: string }) => id).sort());
    expect(schemas[echo?.id ?? '']?.properties).toHaveProperty('text');
  });

  test('a tool that cannot be used is left out and named in the log; without another one the discovery fails', async () => {
    let listed = [tool('good'), tool('two\nlines')];
    const raw = await startRawMcp(certificate, ({ method, result }) =>
      method === 'tools/list' ? result({ tools: listed }) : false,
    );
    try {
      const { publicId, ...server } = await registerMcp(app, { url: `${raw.origin}/mcp` });
      expect(server).toMatchObject({ status: 'CONNECTED', errorMessage: null, tools: [{ name: 'good' }] });
      expect(log.filter(({ externalMcpId }) => externalMcpId === publicId)).toMatchObject([
        { msg: 'tools of an MCP server are left out', count: 1, tools: [{ name: 'two\ufffdlines' }] },
      ]);
      listed = listed.slice(1);
      const { body } = await discover(publicId).expect(200);
      expect(body).toMatchObject({ status: 'ERROR', tools: [{ name: 'good' }] });
      expect(body.errorMessage).toMatch(/no tool that can be used\. The first is two\ufffdlines\. Its name cannot/);
    } finally {
      await raw.close();
    }
  });

  test('whoever publishes an agent with the server is told what is left out, until it is mended', async () => {
    const many = Array.from({ length: 30 }, (_, place) => tool(`bad ${place}\n`));
    let listed = [tool('good'), ...many];
    const raw = await startRawMcp(certificate, ({ method, result }) =>
      method === 'tools/list' ? result({ tools: listed }) : false,
    );
    try {
      const { publicId, name } = await registerMcp(app, { url: `${raw.origin}/mcp` });
      const agent = await makeReadyAgent(app);
      await link(app, agent.publicId, 'external_mcp', publicId);
      const publishing = async () => {
        const { headers } = await app.api('post', `/agents/${agent.publicId}/publish`).expect(200);
        return headers['agent-warnings'];
      };
      expect(await publishing()).toBe(`mcp_tools_left_out;subject=%"${name}"`);
      const [warning] = (await adminJson(app.database, 'agent', 'check', agent.publicId)).warnings;
      const message = expect.stringMatching(
        /lists 30 tools .*: “bad 0.”, .*, “bad 9.” and 20 more\. Of “bad 0.”: Its name/,
      );
      expect(warning).toEqual({ code: 'mcp_tools_left_out', subject: name, message });
      expect((await storedOf(publicId))?.tools_left_out?.tools).toHaveLength(10);
      listed = [tool('good'), tool('good')];
      await discover(publicId).expect(200);
      expect((await storedOf(publicId))?.tools_left_out).toMatchObject({ count: 1, tools: [{ name: 'good' }] });
      listed = [tool('good')];
      await discover(publicId).expect(200);
      expect(await publishing()).toBeUndefined();
    } finally {
      await raw.close();
    }
  });

  test('a credential that the server repeats in its description is hidden', async () => {
    server.settings.tools = { echo: 'Called with sk-secret-4711 and Authorization: Bearer sk-secret-4711' };
    const fields = { url: server.url, authType: 'BEARER_TOKEN' as const, authValue: 'sk-secret-4711' };
    const { publicId } = await registerMcp(app, fields);
    const { body, text } = await discover(publicId).expect(200);
    expect(text).not.toContain('sk-secret-4711');
    expect(body.tools[0].description).toBe('Called with ******** and Authorization: Bearer ********');
    expect(JSON.stringify(await storedOf(publicId))).not.toContain('sk-secret-4711');
  });

  test('a failed discovery sets status ERROR with the reason; the known tools stay listed', async () => {
    const before = await registerMcp(app, { url: server.url, authType: 'API_KEY', authValue: 'sk-secret' });
    server.settings.authorize = () => false;
    clock.advance(1000);
    const { status, body, text } = await discover(before.publicId);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      status: 'ERROR',
      errorMessage: expect.stringMatching(/HTTP 401/),
      updatedAt: clock.now().toISOString(),
    });
    expect(text).not.toContain('sk-secret');
    server.settings.authorize = (h) => h['x-api-key'] === 'sk-secret';
    expect((await discover(before.publicId)).body).toMatchObject({
      status: 'CONNECTED',
      errorMessage: null,
      tools: before.tools,
    });
  });

  test('a server that is PENDING since the service stopped is repaired', async () => {
    const id = await storeMcp(app.workspace, { status: 'PENDING', url: server.url });
    expect((await discover(id)).body).toMatchObject({
      status: 'CONNECTED',
      tools: [{ name: 'echo' }, { name: 'add' }],
    });
  });

  test('a credential that cannot be read any more is a reason that says what to do', async () => {
    const { publicId } = await registerMcp(app, { url: server.url, authType: 'API_KEY', authValue: 'sk-secret' });
    await set(publicId, { credential: Buffer.from('no secret') });
    const { status, body } = await discover(publicId);
    expect([status, body.status, body.errorMessage]).toEqual([
      200,
      'ERROR',
      'The stored credential cannot be read any more. Send it again.',
    ]);
  });

  test('of two discoveries the one that began later counts, whichever ends last', async () => {
    const [reached, release] = [gate(), gate()];
    let asked = 0;
    const raw = await startRawMcp(certificate, async ({ method, result }) => {
      if (method !== 'tools/list') return false;
      asked += 1;
      if (asked !== 2) return result({ tools: [tool(`answer ${asked}`)] });
      reached.open();
      await release.passed;
      return result({ tools: [tool('answer 2')] });
    });
    const { publicId } = await registerMcp(app, { url: raw.origin });
    const early = discover(publicId).then((answer) => answer);
    await reached.passed;
    const late = await discover(publicId);
    expect(late.body.tools).toMatchObject([{ name: 'answer 3' }]);
    release.open();
    expect((await early).body).toEqual(late.body);
    expect(await readMcp(app, publicId)).toEqual(late.body);
    await raw.close();
  });

  test('discoveries at the same time agree on the ids of the tools', async () => {
    const { publicId } = await registerMcp(app, { url: server.url });
    server.settings.tools = { one: undefined, two: undefined };
    const answers = await Promise.all([1, 2, 3, 4].map(() => discover(publicId)));
    const ids = answers.map(({ body }) => body.tools.map(({ id }: { id: string }) => id).join());
    expect(new Set(ids).size).toBe(1);
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("a deleted one and another workspace's are treated as one that does not exist, and are not called", async () => {
    const deleted = await storeMcp(app.workspace, { url: server.url });
    await app.api('delete', `/external-mcps/${deleted}`).expect(204);
    const foreign = await storeMcp(app.stranger, { url: server.url });
    server.seen.length = 0;
    const missing = await discover(newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    for (const id of [deleted, foreign]) {
      const answer = await discover(id);
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer.body)).toEqual(withoutRequestId(missing.body));
    }
    expect(server.seen).toEqual([]);
  });

  test('a server that is deleted during a discovery stays deleted', async () => {
    const raw = await startRawMcp(certificate, async ({ method }) => {
      if (method === 'tools/list') await app.api('delete', `/external-mcps/${id}`).expect(204);
      return false;
    });
    const id = await storeMcp(app.workspace, { url: raw.origin });
    const { status, body } = await discover(id);
    expect([status, body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    expect(await storedOf(id)).toMatchObject({ tools: [], credential: null });
    await raw.close();
  });
});
