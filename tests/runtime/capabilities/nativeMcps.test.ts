import { newId } from '../../../core/ids.ts';
import { makeToolset } from '../../../runtime/agent/toolset.ts';
import { nativeMcpsCapability } from '../../../runtime/capabilities/nativeMcps.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectBuiltin, connectRemote } from '../../support/tools/toolkits.ts';
import { type ScopeParts, toolsFrom } from '../../support/turns/agentScope.ts';
import { shelfOf } from '../knowledge/searchSetting.ts';
import { linkedScope, runNamed } from './linked.ts';

let app: TestApp;
let registry: ToolkitRegistry;
/** Runs the turns. It knows no tools when they begin: `app`, which publishes, has asked for them to check the agent. */
let runner: TestApp;
let askedByPublications: number;
let warnings: object[];
const logger = { warn: (fields: object) => void warnings.push(fields) } as NonNullable<ScopeParts['logger']>;

beforeEach(async () => {
  warnings = [];
  registry = await startToolkitRegistry();
  askedByPublications = 0;
  app = await startTestApp({ toolkits: { composio: registry.access } });
  runner = await startTestApp({ toolkits: { composio: registry.access }, database: app.database });
});
afterEach(async () => {
  await runner.close();
  await app.close();
  await registry.close();
});

/** What an agent works with that is linked to connections. */
async function scopeWith(ids: string[], parts: Partial<ScopeParts> = {}) {
  const links = ids.map((id): ['native_mcp', string] => ['native_mcp', id]);
  const before = everyListAsked();
  const scope = await linkedScope(app, links, { logger, ...parts });
  askedByPublications += everyListAsked() - before;
  return { ...scope, runtime: runner.service.runtime };
}

async function toolsOf(...ids: string[]) {
  return toolsFrom(nativeMcpsCapability, await scopeWith(ids));
}

/** As `scopeWith`, their tools on demand. */
async function onDemandScope(...ids: string[]) {
  const scope = await scopeWith(ids);
  const nativeMcps = scope.resources.nativeMcps.map((linked) => ({ ...linked, instanceMode: 'DYNAMIC' as const }));
  return { ...scope, resources: { ...scope.resources, nativeMcps } };
}

const everyListAsked = () => registry.requests.filter(({ path }) => path === '/api/v3/tools').length;
/** By turns. */
const listsAsked = () => everyListAsked() - askedByPublications;

describe('a built-in toolkit', () => {
  test('brings its tools without the registry, and they work', async () => {
    registry.fault = { status: 500 };
    const id = await connectBuiltin(app.workspace, 'calculator', 'Sums');
    const tools = await toolsOf(id);
    expect(tools[0]).toMatchObject({
      owner: 'Sums',
      requiresApproval: false,
      origin: { kind: 'native_mcp', id, toolName: tools[0]?.name },
    });
    const [definition] = makeToolset(tools).definitions;
    expect(await runNamed(tools, String(definition?.name), { expression: '2+3' })).toMatchObject({
      isError: false,
      text: expect.stringContaining('5'),
    });
    expect(registry.requests).toEqual([]);
  });

  test('is listed once in a process', async () => {
    const id = await connectBuiltin(app.workspace, 'time');
    const [one, two] = [await toolsOf(id), await toolsOf(id)];
    expect(one[0]?.inputSchema).toBe(two[0]?.inputSchema);
  });

  test('searches the agent’s own knowledge and no other', async () => {
    const shelf = shelfOf(app.workspace);
    const [linked, other] = [
      await shelf.add(['Parcels arrive on Mondays.'], { name: 'Delivery' }),
      await shelf.add(['Parcels are secretly opened.'], { name: 'Internal' }),
    ];
    const id = await connectBuiltin(app.workspace, 'workspace');
    const scope = await linkedScope(app, [
      ['native_mcp', id],
      ['knowledge_source', linked],
    ]);
    const tools = await toolsFrom(nativeMcpsCapability, scope);
    const search = tools.find(({ name }) => name.includes('knowledge'));
    const { text } = await runNamed(tools, String(search?.name), { query: 'parcels' });
    expect(text).toContain('Parcels arrive on Mondays.');
    expect(text).not.toContain('secretly');
    expect(other).not.toBe(linked);
  });

  test('of a slug that this release does not have brings nothing', async () => {
    expect(await toolsOf(await connectBuiltin(app.workspace, 'retired'))).toEqual([]);
  });
});

describe('a toolkit of the registry', () => {
  test('brings its tools, and calls go to the connection’s account', async () => {
    const { id, accountId } = await connectRemote(app.workspace, registry, { name: 'Team chat' });
    const tools = await toolsOf(id);
    expect(tools).toMatchObject([
      {
        name: 'SLACK_SEND',
        owner: 'Team chat',
        description: 'Sends with slack.',
        requiresApproval: false,
        origin: { kind: 'native_mcp', id, toolName: 'SLACK_SEND' },
      },
    ]);
    const { text, isError } = await runNamed(tools, 'SLACK_SEND', { text: 'Hi' });
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toMatchObject({ connected_account_id: accountId, arguments: { text: 'Hi' } });
  });

  test('with two accounts has two tools, which differ by the connection in their names', async () => {
    const [work, home] = [
      await connectRemote(app.workspace, registry, { name: 'Work' }),
      await connectRemote(app.workspace, registry, { name: 'Home' }),
    ];
    const tools = await toolsOf(work.id, home.id);
    expect(makeToolset(tools).definitions.map(({ name }) => name)).toEqual(['Work__SLACK_SEND', 'Home__SLACK_SEND']);
    const { text } = await runNamed(tools, 'Home__SLACK_SEND', { text: 'Hi' });
    expect(JSON.parse(text)).toMatchObject({ connected_account_id: home.accountId });
  });

  test('is asked for its tools once, not in every turn', async () => {
    const { id } = await connectRemote(app.workspace, registry);
    await toolsOf(id);
    await toolsOf(id);
    expect(listsAsked()).toBe(1);
  });

  test.each([[{ status: 503 }], [{ hangUp: true }]] as const)(
    'costs its tools while the registry answers %j: logged, and not asked again at once',
    async (fault) => {
      const [remote, builtin] = [await connectRemote(app.workspace, registry), await connectBuiltin(app.workspace)];
      const scope = await scopeWith([remote.id, builtin]);
      registry.fault = fault;
      for (let turn = 0; turn < 3; turn += 1) {
        const tools = await toolsFrom(nativeMcpsCapability, scope);
        expect(tools.length).toBeGreaterThan(0);
        expect(tools.every(({ origin }) => 'id' in origin && origin.id === builtin)).toBe(true);
      }
      expect(listsAsked()).toBe(1);
      expect(warnings).toMatchObject([{ toolkit: 'slack', err: { code: 'TOOLKIT_REGISTRY_UNAVAILABLE' } }]);
    },
  );

  test('that does not answer delays one turn by two seconds, and the next by nothing', async () => {
    const { id } = await connectRemote(app.workspace, registry);
    registry.access.timeoutMs = 100_000;
    const scope = await scopeWith([id]);
    registry.fault = { silence: true };
    const timed = async () => {
      const started = performance.now();
      expect(await toolsFrom(nativeMcpsCapability, scope)).toEqual([]);
      return performance.now() - started;
    };
    const first = await timed();
    expect(first).toBeGreaterThan(1500);
    expect(first).toBeLessThan(50_000);
    // So that no single wait for the processor decides, the middle of five counts.
    const later: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) later.push(await timed());
    expect(later.sort((a, b) => a - b)[2]).toBeLessThan(first / 4);
    expect(warnings).toHaveLength(1);
  });

  test('whose registry goes down before the call says so to the model', async () => {
    const tools = await toolsOf((await connectRemote(app.workspace, registry)).id);
    registry.fault = { status: 500 };
    expect(await runNamed(tools, 'SLACK_SEND', { text: 'Hi' })).toEqual({
      text: 'The registry of these tools cannot be reached at the moment. It may work later.',
      isError: true,
    });
  });

  test('that hangs in a call is ended by the signal, with its reason', async () => {
    const tools = await toolsOf((await connectRemote(app.workspace, registry)).id);
    const controller = new AbortController();
    const reason = new Error('over');
    registry.execute = () => {
      controller.abort(reason);
      return { body: {} };
    };
    await expect(runNamed(tools, 'SLACK_SEND', {}, controller.signal)).rejects.toBe(reason);
  });
});

describe('a DYNAMIC connection', () => {
  beforeEach(() => {
    for (let index = 0; index < 40; index += 1) {
      const description = index === 7 ? 'Archives a channel for good.' : `Does thing ${index}.`;
      const input_parameters = { type: 'object', properties: { channel: { type: 'string' } } };
      registry.tools.push({ slug: `SLACK_${index}`, toolkit: 'slack', description, input_parameters });
    }
  });

  test('costs a turn nothing: its two tools are there without asking the registry', async () => {
    const { id } = await connectRemote(app.workspace, registry, { name: 'Team chat' });
    const scope = await onDemandScope(id);
    const asked = registry.requests.length;
    registry.fault = { status: 500 };
    const tools = await toolsFrom(nativeMcpsCapability, scope);
    expect(makeToolset(tools).definitions.map(({ name }) => name)).toEqual([
      'Team_chat__find_tools',
      'Team_chat__call_tool',
    ]);
    expect(registry.requests).toHaveLength(asked);
    expect(await runNamed(tools, 'Team_chat__find_tools')).toMatchObject({
      isError: true,
      text: expect.stringContaining('cannot be reached'),
    });
    expect(warnings).toEqual([]);
  });

  test('finds its tools by words, with what they take, and calls them', async () => {
    const { id, accountId } = await connectRemote(app.workspace, registry, { name: 'Chat' });
    const tools = await toolsFrom(nativeMcpsCapability, await onDemandScope(id));
    const all = (await runNamed(tools, 'Chat__find_tools')).text.split('\n');
    expect([all.length, all[0]]).toEqual([41, 'SLACK_SEND: Sends with slack.']);
    const { text: found } = await runNamed(tools, 'Chat__find_tools', { search: 'archive CHANNEL' });
    expect(JSON.parse(found)).toEqual({
      name: 'SLACK_7',
      description: 'Archives a channel for good.',
      inputSchema: { type: 'object', properties: { channel: { type: 'string' } } },
    });
    // A search of a thousand words would hold up everybody.
    const many = [...Array.from({ length: 20 }, (_, place) => `filler${place}`), 'archive'].join(' ');
    expect((await runNamed(tools, 'Chat__find_tools', { search: many })).text).toContain('No tool has these words');
    const call = { tool: 'SLACK_7', arguments: { channel: 'c1' } };
    const { text, isError } = await runNamed(tools, 'Chat__call_tool', call);
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toMatchObject({
      slug: 'SLACK_7',
      connected_account_id: accountId,
      arguments: { channel: 'c1' },
    });
  });

  test('says what is wrong with a call', async () => {
    const { id } = await connectRemote(app.workspace, registry, { name: 'Chat' });
    const tools = await toolsFrom(nativeMcpsCapability, await onDemandScope(id));
    expect(await runNamed(tools, 'Chat__find_tools', { search: newId() })).toEqual({
      text: 'No tool has these words. Search for others.',
      isError: false,
    });
    expect(await runNamed(tools, 'Chat__call_tool', { tool: 'SLACK_GONE' })).toMatchObject({ isError: true });
    expect(await runNamed(tools, 'Chat__call_tool', { tool: 'SLACK_7', arguments: [] })).toEqual({
      text: 'tool must be the name of a tool, and arguments an object.',
      isError: true,
    });
  });
});
