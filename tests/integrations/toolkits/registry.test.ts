import { toolkitSettingsFromEnv } from '../../../integrations/toolkits/settings.ts';
import { type ToolContext, Toolkits } from '../../../integrations/toolkits/toolkits.ts';
import {
  type RegistryFault,
  startToolkitRegistry,
  type ToolkitRegistry,
} from '../../support/servers/toolkitRegistry.ts';
import { connection } from '../../support/tools/toolkits.ts';

let registry: ToolkitRegistry;
let toolkits: Toolkits;
const context = {} as ToolContext;
const UNAVAILABLE = {
  code: 'TOOLKIT_REGISTRY_UNAVAILABLE',
  status: 502,
  message: 'The toolkit registry cannot be reached.',
};

beforeEach(async () => {
  registry = await startToolkitRegistry();
  toolkits = new Toolkits({ composio: registry.access, allowPrivateNetwork: false });
});

afterEach(() => registry.close());

function account(id: string, fields: Partial<ToolkitRegistry['accounts'][number]> = {}) {
  registry.accounts.push({ id, status: 'ACTIVE', toolkit: 'slack', user_id: `user of ${id}`, ...fields });
  return connection(fields.toolkit ?? 'slack', id);
}

describe('states', () => {
  test('are what the registry says now, with name and picture of the toolkit', async () => {
    const slack = account('ca_1');
    const gmail = account('ca_2', { toolkit: 'gmail', status: 'EXPIRED' });
    const time = connection('time');
    const states = await toolkits.states([slack, gmail, time]);
    const iconUrl = 'https://logos.example.com/slack.svg';
    expect(states.get(slack.id)).toEqual({ status: 'ACTIVE', toolkit: { slug: 'slack', name: 'Slack', iconUrl } });
    expect(states.get(gmail.id)).toEqual({
      status: 'EXPIRED',
      toolkit: { slug: 'gmail', name: 'Gmail', iconUrl: null },
    });
    expect(states.get(time.id)?.status).toBe('ACTIVE');
    for (const { status } of registry.accounts) expect(status).toBeDefined();
    Object.assign(registry.accounts[0] ?? {}, { status: 'FAILED' });
    expect((await toolkits.states([slack])).get(slack.id)?.status).toBe('FAILED');
  });

  test('an account that is gone, or switched off, is not ACTIVE; an unknown toolkit is called by its slug', async () => {
    const gone = connection('slack', 'ca_gone');
    const off = account('ca_off', { is_disabled: true });
    const odd = account('ca_odd', { toolkit: 'no-such-toolkit' });
    const states = await toolkits.states([gone, off, odd]);
    expect(states.get(gone.id)?.status).toBe('DELETED');
    expect(states.get(off.id)?.status).toBe('INACTIVE');
    expect(states.get(odd.id)).toMatchObject({ status: 'ACTIVE', toolkit: { name: 'no-such-toolkit', iconUrl: null } });
  });

  test('many connections are asked for together, page by page', async () => {
    registry.pageSize = 20;
    const many = Array.from({ length: 120 }, (_, index) => account(`ca_${index}`));
    const states = await toolkits.states(many);
    expect([...states.values()].every(({ status }) => status === 'ACTIVE')).toBe(true);
    const asked = registry.requests.filter(({ path }) => path === '/api/v3/connected_accounts');
    expect(asked).toHaveLength(3 + 3 + 1);
    expect(registry.requests.every(({ apiKey }) => apiKey === registry.access.apiKey)).toBe(true);
  });

  test('without a connection of the registry there is no request', async () => {
    registry.fault = { status: 500 };
    await toolkits.states([connection('time')]);
    await toolkits.states([]);
    expect(registry.requests).toEqual([]);
  });
});

describe('what cannot be believed is TOOLKIT_REGISTRY_UNAVAILABLE', () => {
  test.each<[string, RegistryFault]>([
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['429', { status: 429 }],
    ['401', { status: 401 }],
    ['403', { status: 403 }],
    ['404 for all', { status: 404 }],
    ['silence', { silence: true }],
    ['a cut connection', { hangUp: true }],
    ['no JSON', { body: '<html>Maintenance</html>' }],
    ['an empty body', { body: '' }],
    ['null', { body: 'null' }],
    ['another shape', { body: '{"items": [{"id": 7}]}' }],
    ['no list', { body: '{"items": "none"}' }],
    ['pages without end', { endlessPages: true }],
    ['a redirect', { redirect: '/elsewhere' }],
    ['more than fits', { body: `{"items": [], "padding": "${'x'.repeat(9_000_000)}"}` }],
  ])('%s', async (_name, fault) => {
    const slack = account('ca_1');
    registry.fault = fault;
    await expect(toolkits.states([slack])).rejects.toMatchObject(UNAVAILABLE);
    await expect(toolkits.listTools(slack)).rejects.toMatchObject(UNAVAILABLE);
    await expect(toolkits.listToolkits()).rejects.toMatchObject(UNAVAILABLE);
    const { timeoutMs = 0 } = registry.access;
    const started = performance.now();
    await expect(toolkits.states([slack])).rejects.toMatchObject(UNAVAILABLE);
    expect(performance.now() - started).toBeLessThan(timeoutMs + 30_000);
    // It is not remembered.
    registry.fault = undefined;
    expect((await toolkits.states([slack])).get(slack.id)?.status).toBe('ACTIVE');
    expect(await toolkits.listTools(slack)).toHaveLength(1);
  });

  test.each([401, 403, 429, 500])(
    '%i where one thing is asked for does not mean that it is not there',
    async (status) => {
      registry.fault = { status };
      await expect(toolkits.trigger('SLACK_ANYTHING')).rejects.toMatchObject(UNAVAILABLE);
      await expect(toolkits.triggers('slack')).rejects.toMatchObject(UNAVAILABLE);
      registry.fault = undefined;
      expect(await toolkits.triggers('slack')).toHaveLength(1);
    },
  );

  test('a refused connection', async () => {
    await registry.close();
    await expect(toolkits.states([connection('slack', 'ca_1')])).rejects.toMatchObject(UNAVAILABLE);
    registry = await startToolkitRegistry();
  });

  test('the cause has the details, and no error contains the key', async () => {
    registry.fault = { status: 500 };
    const error: Error = await toolkits.states([account('ca_1')]).catch((thrown) => thrown);
    expect((error.cause as Error).message).toBe('Toolkit registry: /connected_accounts answered 500.');
    const wrong = new Toolkits({ composio: { ...registry.access, apiKey: 'wrong' }, allowPrivateNetwork: false });
    registry.fault = undefined;
    await expect(wrong.states([account('ca_2')])).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('tools', () => {
  test('are those of the latest version, less what is deprecated, on all pages', async () => {
    registry.pageSize = 2;
    const more = ['A', 'B', 'C'].map((letter) => ({
      slug: `SLACK_${letter}`,
      toolkit: 'slack',
      description: '',
      input_parameters: {},
    }));
    registry.tools.push(...more, { ...(more[0] as (typeof more)[number]), slug: 'SLACK_OLD', is_deprecated: true });
    const tools = await toolkits.listTools(connection('slack', 'ca_1'));
    expect(tools.map(({ name }) => name)).toEqual(['SLACK_SEND', 'SLACK_A', 'SLACK_B', 'SLACK_C']);
    expect(tools[0]).toEqual({
      name: 'SLACK_SEND',
      description: 'Sends with slack.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    });
    expect(tools[1]?.inputSchema).toEqual({ type: 'object' });
    const asked = registry.requests.length;
    await toolkits.listTools(connection('slack', 'ca_2'));
    expect(registry.requests).toHaveLength(asked);
  });

  test('are called with the account and its user', async () => {
    const slack = account('ca_1');
    const { isError, text } = await toolkits.callTool(
      slack,
      { name: 'SLACK_SEND', arguments: { text: 'Hi' } },
      context,
    );
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual({
      slug: 'SLACK_SEND',
      connected_account_id: 'ca_1',
      user_id: 'user of ca_1',
      version: 'latest',
      arguments: { text: 'Hi' },
    });
  });

  test.each(['GMAIL_SEND', 'SLACK_NOTHING', '../../toolkits', ''])(
    '%j of a slack connection is not called',
    async (name) => {
      const slack = account('ca_1');
      expect(await toolkits.callTool(slack, { name, arguments: {} }, context)).toMatchObject({ isError: true });
      expect(registry.requests.some(({ method }) => method === 'POST')).toBe(false);
    },
  );

  test('a connection that is not active calls nothing', async () => {
    const expired = account('ca_1', { status: 'EXPIRED' });
    const call = { name: 'SLACK_SEND', arguments: {} };
    expect(await toolkits.callTool(expired, call, context)).toMatchObject({ isError: true });
    expect(registry.requests.some(({ method }) => method === 'POST')).toBe(false);
  });

  test('a failed tool is an error result, a failed registry is not', async () => {
    const slack = account('ca_1');
    const call = { name: 'SLACK_SEND', arguments: {} };
    registry.execute = () => ({ body: { successful: false, error: 'channel_not_found', data: {}, log_id: 'log_2' } });
    expect(await toolkits.callTool(slack, call, context)).toEqual({ isError: true, text: 'channel_not_found' });
    registry.execute = () => ({ status: 422, body: { error: { message: 'text is missing' } } });
    expect(await toolkits.callTool(slack, call, context)).toEqual({ isError: true, text: 'text is missing' });
    registry.execute = () => ({ status: 500, body: { error: { message: 'inside' } } });
    await expect(toolkits.callTool(slack, call, context)).rejects.toMatchObject(UNAVAILABLE);
    registry.execute = () => ({ body: { result: 'of another shape' } });
    await expect(toolkits.callTool(slack, call, context)).rejects.toMatchObject(UNAVAILABLE);
  });

  test('the signal ends a call with its own reason', async () => {
    const slack = account('ca_1');
    const controller = new AbortController();
    const reason = new Error('over');
    registry.execute = () => {
      controller.abort(reason);
      return { body: {} };
    };
    const call = { name: 'SLACK_SEND', arguments: {} };
    const signal = { ...context, signal: controller.signal };
    await expect(toolkits.callTool(slack, call, signal)).rejects.toBe(reason);
  });
});

describe('triggers', () => {
  test('of a toolkit that both have: the built-in ones first', async () => {
    const slugs = (await toolkits.triggers('github'))?.map(({ slug }) => slug) ?? [];
    expect(slugs[0]).toBe('GITHUB_PUSH');
    expect(slugs.at(-1)).toBe('GITHUB_COMMIT_EVENT');
  });

  test('of the registry alone, with a schema always', async () => {
    expect(await toolkits.triggers('slack')).toEqual([
      {
        slug: 'SLACK_ANYTHING',
        name: 'Anything',
        description: null,
        toolkit: 'slack',
        configSchema: { type: 'object', properties: {}, additionalProperties: false },
      },
    ]);
    expect(await toolkits.trigger('GMAIL_NEW_GMAIL_MESSAGE')).toMatchObject({
      toolkit: 'gmail',
      configSchema: { type: 'object', properties: { labelIds: { type: 'string' } } },
    });
  });

  test.each(['nothing', '../connected_accounts', '..', '.', 'a/b', 'a b', '%2e%2e', 'ü'])(
    '%j is neither toolkit nor trigger, and leads nowhere else',
    async (slug) => {
      expect(await toolkits.triggers(slug)).toBeUndefined();
      expect(await toolkits.trigger(slug)).toBeUndefined();
      for (const { path } of registry.requests) expect(path).toMatch(/^\/api\/v3\/(toolkits|triggers_types)\/nothing$/);
    },
  );

  test('those that are built in alone need no registry', async () => {
    registry.fault = { status: 500 };
    expect((await toolkits.triggers('webhook'))?.length).toBe(2);
    expect(await toolkits.triggers('time')).toEqual([]);
    expect((await toolkits.trigger('STRIPE_INVOICE_PAID'))?.toolkit).toBe('stripe');
    await expect(toolkits.triggers('gmail')).rejects.toMatchObject(UNAVAILABLE);
    await expect(toolkits.trigger('GMAIL_X')).rejects.toMatchObject(UNAVAILABLE);
  });
});

test('listToolkits names those of both', async () => {
  expect((await toolkits.listToolkits()).map(({ slug }) => slug)).toEqual([
    'time',
    'calculator',
    'http_fetch',
    'workspace',
    'slack',
    'gmail',
    'github',
  ]);
});

describe('settings', () => {
  test.each([
    [{}, {}],
    [{ COMPOSIO_API_KEY: '  ' }, {}],
    [{ COMPOSIO_BASE_URL: 'https://registry.example.com' }, {}],
    [{ COMPOSIO_API_KEY: 'ak_1' }, { composio: { apiKey: 'ak_1', baseUrl: 'https://backend.composio.dev' } }],
    [
      { COMPOSIO_API_KEY: ' ak_1 ', COMPOSIO_BASE_URL: 'http://127.0.0.1:9901//' },
      { composio: { apiKey: 'ak_1', baseUrl: 'http://127.0.0.1:9901' } },
    ],
  ])('%j', (env, settings) => {
    expect(toolkitSettingsFromEnv(env)).toEqual(settings);
  });

  test.each(['composio.dev', 'ftp://composio.dev', 'javascript:1'])('%j is no address', (address) => {
    const env = { COMPOSIO_API_KEY: 'ak_secret', COMPOSIO_BASE_URL: address };
    expect(() => toolkitSettingsFromEnv(env)).toThrow('COMPOSIO_BASE_URL must be an http or https address.');
  });
});
