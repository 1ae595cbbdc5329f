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

const list = (toolkit: string, of = app) =>
  of.api('get', `/native-mcp-triggers?toolkit=${encodeURIComponent(toolkit)}`);

describe('200', () => {
  test.each([
    ['github', 'GITHUB_PUSH'],
    ['stripe', 'STRIPE_INVOICE_PAID'],
    ['webhook', 'WEBHOOK_SIGNED'],
  ])('%s has built-in triggers such as %s', async (toolkit, slug) => {
    const { status, body } = await list(toolkit, alone);
    expect(status).toBe(200);
    expect(body.toolkit).toBe(toolkit);
    const found = body.items.find((item: { slug: string }) => item.slug === slug);
    expect(found).toEqual({ slug, name: expect.any(String), description: expect.any(String), toolkit });
  });

  test("a registry's toolkit has its triggers, in its order", async () => {
    expect((await list('gmail')).body).toEqual({
      toolkit: 'gmail',
      items: [
        { slug: 'GMAIL_NEW_GMAIL_MESSAGE', name: 'New message', description: 'A message arrives.', toolkit: 'gmail' },
      ],
    });
  });

  test('a toolkit that both have shows the built-in ones first', async () => {
    const slugs = (await list('github')).body.items.map(({ slug }: { slug: string }) => slug);
    expect([slugs[0], slugs.at(-1)]).toEqual(['GITHUB_PUSH', 'GITHUB_COMMIT_EVENT']);
  });

  test('a toolkit without triggers has none', async () => {
    expect((await list('time')).body).toEqual({ toolkit: 'time', items: [] });
  });
});

describe('400', () => {
  test.each(['nothing', '../toolkits', 'Gmail', 'a/b', '%00'])('UNKNOWN_TOOLKIT: %j', async (toolkit) => {
    for (const service of [app, alone]) {
      const { status, body } = await list(toolkit, service);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'UNKNOWN_TOOLKIT' });
    }
  });

  test("UNKNOWN_TOOLKIT: a registry's toolkit where none is configured", async () => {
    expect((await list('gmail', alone)).body.code).toBe('UNKNOWN_TOOLKIT');
  });

  test('VALIDATION_ERROR: no toolkit is named', async () => {
    expect((await list('')).body.code).toBe('VALIDATION_ERROR');
    expect((await app.api('get', '/native-mcp-triggers')).body.code).toBe('VALIDATION_ERROR');
  });
});

describe('502', () => {
  test.each([{ status: 500 }, { silence: true } as const, { body: '[]' }])(
    'TOOLKIT_REGISTRY_UNAVAILABLE: the registry fails with %j',
    async (fault) => {
      registry.fault = fault;
      const { status, body } = await list('slack');
      expect({ status, code: body.code }).toEqual({ status: 502, code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
      expect((await list('webhook')).status).toBe(200);
    },
  );
});
