import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { BUILTIN_TOOLKITS } from '../../../integrations/toolkits/builtin/catalogue.ts';
import { callBuiltinTool, createBuiltinServer } from '../../../integrations/toolkits/builtin/provider.ts';
import { BUILTIN_TRIGGERS } from '../../../integrations/toolkits/builtin/triggers.ts';
import { type ToolContext, Toolkits } from '../../../integrations/toolkits/toolkits.ts';
import { connection } from '../../support/tools/toolkits.ts';

const slugs = BUILTIN_TOOLKITS.map(({ slug }) => slug);
const toolkits = new Toolkits({ allowPrivateNetwork: false });
const context = { clock: { now: () => new Date('2026-07-01T12:00:00Z') } } as ToolContext;

/** A client of the official SDK, connected to a built-in server. */
async function connect(slug: string): Promise<Client> {
  const server = createBuiltinServer(slug, {
    allowPrivateNetwork: false,
    context: () => context,
    failed: (error) => {
      throw error;
    },
  });
  if (!server) throw new Error(`no server ${slug}`);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(ours);
  return client;
}

describe.each(slugs)('%s is an MCP server', (slug) => {
  test('that names itself, and whose tools have JSON Schemas of objects', async () => {
    const client = await connect(slug);
    expect(client.getServerVersion()).toMatchObject({ name: slug });
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(0);
    for (const { name, description, inputSchema, annotations } of tools) {
      expect(name).toMatch(/^[a-z_]{1,64}$/);
      expect(description?.length).toBeGreaterThan(20);
      expect(annotations?.readOnlyHint).toBe(true);
      expect(inputSchema.type).toBe('object');
      for (const property of Object.values(inputSchema.properties ?? {}))
        expect(property).toHaveProperty('description');
    }
    await client.close();
  });

  test('that gives the same tools to an agent', async () => {
    const client = await connect(slug);
    const { tools } = await client.listTools();
    expect(await toolkits.listTools(connection(slug))).toEqual(
      tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    );
    await client.close();
  });

  test('that refuses arguments which do not fit, and tools that it does not have', async () => {
    const client = await connect(slug);
    const [tool] = (await client.listTools()).tools;
    const wrong = Object.fromEntries(Object.keys(tool?.inputSchema.properties ?? {}).map((name) => [name, { no: 1 }]));
    expect(await client.callTool({ name: tool?.name ?? '', arguments: wrong })).toMatchObject({ isError: true });
    for (const name of ['nothing', 'constructor', '__proto__', '']) {
      // The package says of a name that every object has that the tool is disabled.
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(/^Tool .* (not found|disabled)$/);
      expect(
        await callBuiltinTool(slug, { name, arguments: {} }, { context, allowPrivateNetwork: false }),
      ).toMatchObject({
        isError: true,
      });
    }
    await client.close();
  });
});

describe('Toolkits without a registry', () => {
  test('lists the built-in ones', async () => {
    expect(await toolkits.listToolkits()).toEqual([
      { slug: 'time', name: 'Time', iconUrl: null },
      { slug: 'calculator', name: 'Calculator', iconUrl: null },
      { slug: 'http_fetch', name: 'HTTP fetch', iconUrl: null },
      { slug: 'workspace', name: 'Workspace', iconUrl: null },
    ]);
  });

  test('built-in connections are ACTIVE; one whose toolkit is gone is not', async () => {
    const [time, gone] = [connection('time'), connection('abacus')];
    const states = await toolkits.states([time, gone]);
    expect(states.get(time.id)).toEqual({ status: 'ACTIVE', toolkit: { slug: 'time', name: 'Time', iconUrl: null } });
    expect(states.get(gone.id)).toMatchObject({ status: 'INACTIVE', toolkit: { slug: 'abacus', name: 'abacus' } });
    expect(await toolkits.listTools(gone)).toEqual([]);
    expect(await toolkits.callTool(gone, { name: 'x', arguments: {} }, context)).toMatchObject({ isError: true });
  });

  test('calls a tool', async () => {
    const call = { name: 'calculate', arguments: { expression: '6 * 7' } };
    expect(await toolkits.callTool(connection('calculator'), call, context)).toEqual({ isError: false, text: '42' });
  });

  test('a connection of the registry is out of reach', async () => {
    const remote = connection('slack', 'ca_1');
    const unavailable = { code: 'TOOLKIT_REGISTRY_UNAVAILABLE', status: 502 };
    await expect(toolkits.states([connection('time'), remote])).rejects.toMatchObject(unavailable);
    await expect(toolkits.listTools(remote)).rejects.toMatchObject(unavailable);
    await expect(toolkits.callTool(remote, { name: 'X', arguments: {} }, context)).rejects.toMatchObject(unavailable);
  });

  test('an ended signal calls nothing', async () => {
    const reason = new Error('over');
    const ended = { ...context, signal: AbortSignal.abort(reason) };
    const call = { name: 'current_time', arguments: {} };
    await expect(callBuiltinTool('time', call, { context: ended, allowPrivateNetwork: false })).rejects.toBe(reason);
  });
});

describe('trigger types', () => {
  const ajv = new Ajv2020({ strict: true, allErrors: true });

  test('have slugs of their own, with their toolkit in front', () => {
    expect(new Set(BUILTIN_TRIGGERS.map(({ slug }) => slug)).size).toBe(BUILTIN_TRIGGERS.length);
    for (const { slug, toolkit } of BUILTIN_TRIGGERS)
      expect(slug).toMatch(new RegExp(`^${toolkit.toUpperCase()}_[A-Z_]+$`));
  });

  test.each(BUILTIN_TRIGGERS.map((trigger) => [trigger.slug, trigger] as const))(
    '%s has a valid JSON Schema that wants a secret and nothing unknown, and describes every field',
    (_slug, { configSchema }) => {
      const validate = ajv.compile(configSchema);
      expect(validate({})).toBe(false);
      expect(validate.errors?.some(({ params }) => params.missingProperty === 'signingSecret')).toBe(true);
      const properties = configSchema.properties as Record<
        string,
        { title: string; description: string; default?: unknown }
      >;
      for (const [name, property] of Object.entries(properties)) {
        expect(property.title).toBeTruthy();
        expect(property.description).toBeTruthy();
        if (property.default !== undefined) expect(ajv.compile(property)(property.default)).toBe(true);
        expect(name).toMatch(/^[a-z][A-Za-z]+$/);
      }
      expect(properties.signingSecret).toMatchObject({ writeOnly: true });
    },
  );

  test.each<[string, object, boolean]>([
    ['GITHUB_PUSH', { signingSecret: 's'.repeat(16), repository: 'acme/site', branches: ['main'] }, true],
    ['GITHUB_PUSH', { signingSecret: 's'.repeat(16), repository: 'acme' }, false],
    ['GITHUB_PUSH', { signingSecret: 'short' }, false],
    ['GITHUB_ISSUES', { signingSecret: 's'.repeat(16), actions: ['opened'] }, true],
    ['GITHUB_ISSUES', { signingSecret: 's'.repeat(16), actions: ['exploded'] }, false],
    ['STRIPE_INVOICE_PAID', { signingSecret: 'whsec_0123456789abcdef', toleranceSeconds: 60 }, true],
    ['STRIPE_INVOICE_PAID', { signingSecret: 'sk_live_0123456789abcdef' }, false],
    ['STRIPE_EVENT', { signingSecret: 'whsec_0123456789abcdef', events: ['payout.paid'] }, true],
    ['STRIPE_EVENT', { signingSecret: 'whsec_0123456789abcdef' }, false],
    ['WEBHOOK_SIGNED', { signingSecret: 's'.repeat(16), signatureHeader: 'X-Signature', algorithm: 'sha512' }, true],
    ['WEBHOOK_SIGNED', { signingSecret: 's'.repeat(16), signatureHeader: 'X Signature' }, false],
    ['WEBHOOK_SIGNED', { signingSecret: 's'.repeat(16), signatureHeader: 'X-S', algorithm: 'md5' }, false],
    ['WEBHOOK_STANDARD', { signingSecret: `whsec_${'A'.repeat(32)}` }, true],
    ['WEBHOOK_STANDARD', { signingSecret: 'plain text, not base64 at all!!!' }, false],
  ])('%s with %j: %j', async (slug, config, valid) => {
    const trigger = await toolkits.trigger(slug);
    expect(ajv.compile(trigger?.configSchema ?? false)(config)).toBe(valid);
  });
});
