import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';

let app: TestApp;
let alone: TestApp;
let registry: ToolkitRegistry;

beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({ toolkits: { composio: registry.access } });
  alone = await startTestApp({ database: app.database });
});

afterEach(() => {
  registry.fault = undefined;
});

afterAll(async () => {
  await alone.close();
  await app.close();
  await registry.close();
});

const get = (slug: string, service = app) => service.api('get', `/native-mcp-triggers/${encodeURIComponent(slug)}`);

describe('200', () => {
  test('a built-in trigger with the JSON Schema of its configuration', async () => {
    const { status, body } = await get('STRIPE_INVOICE_PAID', alone);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      slug: 'STRIPE_INVOICE_PAID',
      name: 'Invoice paid',
      description: expect.any(String),
      toolkit: 'stripe',
      configSchema: { type: 'object', required: ['signingSecret'], additionalProperties: false },
    });
    expect(Object.keys(body).sort()).toEqual(['configSchema', 'description', 'name', 'slug', 'toolkit']);
  });

  test('every trigger that a list names can be got', async () => {
    for (const toolkit of ['github', 'stripe', 'webhook', 'gmail', 'slack']) {
      const { body } = await app.api('get', `/native-mcp-triggers?toolkit=${toolkit}`);
      for (const item of body.items) expect((await get(item.slug)).body).toMatchObject(item);
    }
  });

  test('a trigger of the registry; one without configuration has the schema of an empty object', async () => {
    expect((await get('GMAIL_NEW_GMAIL_MESSAGE')).body).toEqual({
      slug: 'GMAIL_NEW_GMAIL_MESSAGE',
      name: 'New message',
      description: 'A message arrives.',
      toolkit: 'gmail',
      configSchema: { type: 'object', properties: { labelIds: { type: 'string' } } },
    });
    expect((await get('SLACK_ANYTHING')).body).toMatchObject({
      description: null,
      configSchema: { type: 'object', properties: {}, additionalProperties: false },
    });
  });

  test('a built-in one while the registry is out of order', async () => {
    registry.fault = { hangUp: true };
    expect((await get('GITHUB_PUSH')).status).toBe(200);
  });
});

describe('404', () => {
  test.each(['NOTHING', 'github_push', '..', '../toolkits/slack', 'A B', 'constructor'])(
    'TRIGGER_NOT_FOUND: %j',
    async (slug) => {
      for (const service of [app, alone]) {
        const { status, body } = await get(slug, service);
        expect({ status, code: body.code }).toEqual({ status: 404, code: 'TRIGGER_NOT_FOUND' });
      }
    },
  );

  test("TRIGGER_NOT_FOUND: a registry's trigger where none is configured", async () => {
    expect((await get('GMAIL_NEW_GMAIL_MESSAGE', alone)).body.code).toBe('TRIGGER_NOT_FOUND');
  });
});

describe('502', () => {
  test('TOOLKIT_REGISTRY_UNAVAILABLE: the registry is asked and does not answer', async () => {
    registry.fault = { status: 500 };
    const { status, body } = await get('GMAIL_NEW_GMAIL_MESSAGE');
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
  });
});
