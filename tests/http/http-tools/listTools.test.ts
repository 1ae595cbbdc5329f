import type { components } from '../../../generated/api.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';
import { documentOf } from '../../support/tools/openapiDocuments.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** A new workspace with these tools, and a function that lists them. */
async function workspaceWith(...tools: Partial<components['schemas']['HttpToolCreate']>[]) {
  const { apiKey } = await app.database.seedWorkspace();
  const made = [];
  for (const tool of tools) made.push(await makeTool(app, tool, apiKey));
  const list = (query: object = {}) => app.api('get', '/http-tools', apiKey).query(query);
  const names = async (query: object) => (await list(query)).body.items.map(({ name }: { name: string }) => name);
  return { made, list, names, apiKey };
}

const variable = {
  toolType: 'INTERNAL_VARIABLE',
  configuration: { name: 'a', type: 'string', scope: 'workspace' },
} as const;

describe('200', () => {
  test('tools of the workspace, newest first, whole and with hidden secrets', async () => {
    const configuration = { url: 'https://api.example.com', secrets: { a: 'listed-secret' } };
    const { made, list } = await workspaceWith({}, variable, { configuration });
    const { status, body, text } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({ items: made.toReversed(), page: 1, limit: 20, total: 3, totalPages: 1 });
    expect(text).not.toContain('listed-secret');
  });

  test('an OpenAPI document that is an object is summed up; getTool has it whole', async () => {
    const info = { title: 'Orders', version: '1.2.0' };
    const document = documentOf({ description: 'x'.repeat(400_000) }, { info: { ...info, description: 'Of a shop.' } });
    const operations = ['op'];
    const configuration = { operations, openapi: document, auth: { type: 'bearer', secret: 'listed-secret' } };
    const { made, list, apiKey } = await workspaceWith({ toolType: 'CUSTOM_INTEGRATION', configuration });
    const { body, text } = await list();
    expect(text.length).toBeLessThan(2_000);
    expect(body.items).toEqual([
      {
        ...made[0],
        configuration: {
          operations,
          openapi: { openapi: document.openapi, info },
          auth: { type: 'bearer', secret: '********' },
        },
      },
    ]);
    const whole = (await app.api('get', `/http-tools/${made[0]?.publicId}`, apiKey)).body;
    expect(whole).toEqual(made[0]);
    expect(whole.configuration.openapi).toEqual(document);
  });

  test('an empty list', async () => {
    const { list } = await workspaceWith();
    expect((await list()).body).toEqual({ items: [], page: 1, limit: 20, total: 0, totalPages: 0 });
  });

  test('pages do not overlap, and one beyond the last is empty', async () => {
    const { made, list } = await workspaceWith({}, {}, {});
    const one = await list({ limit: 2 });
    const two = await list({ limit: 2, page: 2 });
    expect([...one.body.items, ...two.body.items]).toEqual(made.toReversed());
    expect((await list({ limit: 2, page: 3 })).body).toEqual({ items: [], page: 3, limit: 2, total: 3, totalPages: 2 });
  });

  test('by type, and by a part of the name in any case', async () => {
    const { names } = await workspaceWith(
      { name: 'Get_Order' },
      { ...variable, name: 'order_language' },
      { name: 'other' },
    );
    expect(await names({ toolType: 'INTERNAL_VARIABLE' })).toEqual(['order_language']);
    expect(await names({ search: 'ORDER' })).toEqual(['order_language', 'Get_Order']);
    expect(await names({ search: 'order', toolType: 'HTTP_REQUEST' })).toEqual(['Get_Order']);
    expect(await names({ toolType: 'PARTNER_MCP' })).toEqual([]);
  });

  test('the wildcards of LIKE are plain text', async () => {
    const { names } = await workspaceWith({ name: 'a_b' }, { name: 'axb' });
    expect(await names({ search: 'a_b' })).toEqual(['a_b']);
    expect(await names({ search: '%' })).toEqual([]);
  });

  test('deleted tools are gone', async () => {
    const { made, list, apiKey } = await workspaceWith({}, {});
    await app.api('delete', `/http-tools/${made[0]?.publicId}`, apiKey);
    expect((await list()).body).toMatchObject({ items: [made[1]], total: 1 });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{ toolType: 'SHELL' }, { page: 0 }, { limit: 1000 }])('refuses %j', async (query) => {
    const { list } = await workspaceWith();
    const { status, body } = await list(query);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
