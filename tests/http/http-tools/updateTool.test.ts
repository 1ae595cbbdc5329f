import { softDeleteHttpTool } from '../../../db/queries/tools/httpTools.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { sealSecrets } from '../../../runtime/tools/secrets/secrets.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { answering, makeTool, startToolServer, type ToolServer, tryTool } from '../../support/tools/httpTools.ts';
import { allNotFound, answersForMissing } from './tools.ts';

let app: TestApp;
let server: ToolServer;
const clock = new TestClock();
beforeAll(async () => {
  server = await startToolServer();
  app = await startTestApp({ allowPrivateNetwork: true, clock });
});
afterAll(() => Promise.all([app.close(), server.close()]));

const update = (id: string, body: object) => app.api('patch', `/http-tools/${id}`).send(body);

/** Expects this status and code, and that nothing was written. */
async function expectRefused(id: string, body: object, status: number, code: string) {
  const before = await tableContents(app.database.name);
  const answer = await update(id, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await tableContents(app.database.name)).toEqual(before);
  return answer.body;
}

/** A tool that sends its secrets `a` and `b`. */
const makeSecretTool = () =>
  makeTool(app, {
    configuration: {
      url: `${server.origin}/echo`,
      headers: { 'x-a': '{{secret.a}}', 'x-b': '{{secret.b}}' },
      secrets: { a: 'first-a', b: 'first-b' },
    },
  });

/** The secrets that the tool sends now. */
async function sent(id: string) {
  await tryTool(app, id);
  const { headers } = server.received.at(-1) ?? {};
  return [headers?.['x-a'], headers?.['x-b']];
}

describe('200', () => {
  test.each([
    ['name', 'another_name'],
    ['description', 'What it does'],
    ['requiresApproval', true],
    ['configuration', { url: 'https://other.example.com', method: 'POST' }],
  ])('changes %s and nothing else', async (field, value) => {
    const tool = await makeTool(app);
    clock.advance(1000);
    const { status, body } = await update(tool.publicId, { [field]: value });
    expect(status).toBe(200);
    expect(body).toEqual({ ...tool, [field]: value, updatedAt: clock.now().toISOString() });
    expect((await app.api('get', `/http-tools/${tool.publicId}`)).body).toEqual(body);
  });

  test('without a field nothing changes', async () => {
    const tool = await makeTool(app);
    clock.advance(1000);
    expect((await update(tool.publicId, {})).body).toEqual(tool);
  });

  test('its own name does not count as taken', async () => {
    const { publicId, name } = await makeTool(app);
    expect((await update(publicId, { name })).status).toBe(200);
  });

  test('a secret sent as ******** stays, one with a new value is replaced, one that is left out is erased', async () => {
    const { publicId, configuration } = await makeSecretTool();
    const replaced = { ...configuration, secrets: { a: '********', b: 'second-b' } };
    const { status, body, text } = await update(publicId, { configuration: replaced });
    expect([status, body.configuration.secrets]).toEqual([200, { a: '********', b: '********' }]);
    expect(text).not.toMatch(/first-|second-/);
    expect(await sent(publicId)).toEqual(['first-a', 'second-b']);

    const { headers: _, ...bare } = configuration;
    await update(publicId, { configuration: { ...bare, secrets: { b: '********' } } });
    const { details } = await expectRefused(publicId, { configuration: replaced }, 422, 'INVALID_TOOL_CONFIGURATION');
    expect(details).toMatchObject([{ path: '/body/configuration/secrets/a' }]);
  });

  test('a change without a configuration keeps the configuration and its secrets', async () => {
    const { publicId } = await makeSecretTool();
    expect((await update(publicId, { description: 'x' })).status).toBe(200);
    expect((await update(publicId, { description: 'y', configuration: null })).status).toBe(200);
    expect(await sent(publicId)).toEqual(['first-a', 'first-b']);
  });

  test('a configuration without secrets leaves none stored', async () => {
    const { publicId } = await makeSecretTool();
    await update(publicId, { configuration: { url: server.origin } });
    const { db, workspaceId } = app.workspace;
    const row = db.selectFrom('http_tools').select('secrets').where('workspace_id', '=', workspaceId);
    expect(await row.where('id', '=', publicId).executeTakeFirst()).toEqual({ secrets: null });
  });

  test('a kept secret that another change replaces meanwhile has the new value', async () => {
    const { publicId, configuration } = await makeSecretTool();
    const { db, workspaceId } = app.workspace;
    const newer = sealSecrets(app.service.runtime.secrets, workspaceId, publicId, {
      '/secrets/a': 'newer-a',
      '/secrets/b': 'newer-b',
    });
    const changing = await db.transaction().execute(async (trx) => {
      const row = trx.updateTable('http_tools').where('workspace_id', '=', workspaceId).where('id', '=', publicId);
      await row.set({ secrets: newer }).execute();
      const keeping = update(publicId, { configuration }).then((answer) => answer);
      await untilOneWaits(app.database.name);
      return { keeping };
    });
    expect((await changing.keeping).status).toBe(200);
    expect(await sent(publicId)).toEqual(['newer-a', 'newer-b']);
  });

  test('the endpoints of an integration follow its configuration', async () => {
    server.on('/ping', answering('{"pong":true}'));
    const openapi = (path: string) => ({
      openapi: '3.1.0',
      servers: [{ url: server.origin }],
      paths: { [path]: { get: { operationId: 'ping' } } },
    });
    const tool = await makeTool(app, {
      toolType: 'CUSTOM_INTEGRATION',
      configuration: { openapi: openapi('/old'), operations: ['ping'] },
    });
    await update(tool.publicId, { configuration: { openapi: openapi('/ping'), operations: ['ping'] } });
    expect((await tryTool(app, tool.publicId)).responseData).toEqual({ pong: true });
  });
});

describe('400 IMMUTABLE_FIELD', () => {
  test.each([
    ['another type', { toolType: 'DATABASE_QUERY' }],
    ['the present type', { toolType: 'HTTP_REQUEST' }],
    ['a type beside a configuration that does not fit', { toolType: 'HTTP_REQUEST', configuration: { nonsense: 1 } }],
    ['a type beside a good change', { toolType: 'PARTNER_MCP', description: 'x' }],
  ])('refuses %s', async (_what, body) => {
    const { publicId } = await makeTool(app);
    const { details } = await expectRefused(publicId, body, 400, 'IMMUTABLE_FIELD');
    expect(details).toMatchObject([{ path: '/body/toolType' }]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { name: '' },
    { name: 'get order' },
    { name: null },
    { description: null },
    { description: 'x'.repeat(1001) },
    { requiresApproval: null },
    { toolType: 'SHELL' },
    { publicId: 'x' },
  ])('refuses %j', async (body) => {
    const { publicId } = await makeTool(app);
    await expectRefused(publicId, body, 400, 'VALIDATION_ERROR');
  });
});

describe('404 HTTP_TOOL_NOT_FOUND', () => {
  test("a deleted tool and another workspace's are treated as one that does not exist", async () => {
    expect(await answersForMissing(app, (id) => update(id, { description: 'x' }))).toEqual(allNotFound);
    expect(await answersForMissing(app, (id) => update(id, { configuration: { url: 'x' } }))).toEqual(allNotFound);
  });

  test.each([
    ['the configuration', { configuration: { url: 'https://other.example.com' } }],
    ['another field', { description: 'x' }],
  ])('a tool that is deleted while %s is changed does not exist', async (_what, body) => {
    const { publicId } = await makeTool(app);
    const { db, workspaceId } = app.workspace;
    const changing = await inTransaction(db, async (trx) => {
      await softDeleteHttpTool(trx, workspaceId, publicId, clock.now());
      const response = update(publicId, body).then((answer) => answer);
      await untilOneWaits(app.database.name);
      return { response };
    });
    const { status, body: refusal } = await changing.response;
    expect([status, refusal.code]).toEqual([404, 'HTTP_TOOL_NOT_FOUND']);
  });
});

describe('409 HTTP_TOOL_NAME_TAKEN', () => {
  test('the name of another tool is taken', async () => {
    const [one, two] = [await makeTool(app), await makeTool(app)];
    await expectRefused(two.publicId, { name: one.name, description: 'x' }, 409, 'HTTP_TOOL_NAME_TAKEN');
  });

  test('of several at the same time one gets the name', async () => {
    const tools = await Promise.all([1, 2, 3].map(() => makeTool(app)));
    const answers = await Promise.all(tools.map(({ publicId }) => update(publicId, { name: 'wanted' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe('422 INVALID_TOOL_CONFIGURATION', () => {
  test.each([
    ['a configuration of another type', { connection: 'postgres://a:b@c/d', query: 'select 1' }],
    ['a part of one', { headers: { a: 'b' } }],
    ['a hidden secret that is not stored', { url: 'https://api.example.com', secrets: { no: '********' } }],
  ])('refuses %s', async (_what, configuration) => {
    const { publicId } = await makeTool(app);
    const body = { configuration, description: 'x' };
    await expectRefused(publicId, body, 422, 'INVALID_TOOL_CONFIGURATION');
  });
});
