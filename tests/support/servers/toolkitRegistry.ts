import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { RegistryAccess } from '../../../integrations/toolkits/settings.ts';

/*
 * A toolkit registry on a local port that speaks version 3 of Composio's HTTP API as documented (docs.composio.dev/reference/v3):
 * `x-api-key`, lists in pages with `next_cursor`, comma-separated filters, errors as `{error: {message, status, …}}`.
 */

/** A connected account, as the registry stores it. */
export interface RegistryAccount {
  id: string;
  status: string;
  toolkit: string;
  user_id: string;
  is_disabled?: boolean;
}

/** How the registry misbehaves until a test changes it. */
export type RegistryFault =
  | { status: number }
  | { silence: true }
  | { hangUp: true }
  | { body: string }
  | { endlessPages: true }
  | { redirect: string };

/** One request as the registry saw it. */
export interface RegistryRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  apiKey: string | undefined;
  body: unknown;
}

/** A running registry. Its data are arrays to be changed at will. */
export interface ToolkitRegistry {
  access: RegistryAccess;
  accounts: RegistryAccount[];
  toolkits: { slug: string; name: string; logo: string }[];
  tools: { slug: string; toolkit: string; description: string; input_parameters: unknown; is_deprecated?: boolean }[];
  triggers: { slug: string; toolkit: string; name: string; description: string; config: unknown }[];
  /** Triggers that were started. The same one with the same account and configuration is one. */
  instances: { id: string; slug: string; accountId: string; config: unknown; enabled: boolean }[];
  /** The response of a tool; by default its arguments. */
  execute: (slug: string, body: Record<string, unknown>) => { status?: number; body: unknown };
  fault: RegistryFault | undefined;
  /** Most items in a page, whatever the request asks for. */
  pageSize: number;
  requests: RegistryRequest[];
  close(): Promise<void>;
}

const API_KEY = 'ak_test_0123456789';

/** Starts a registry with Slack and Gmail, one tool and one trigger each, and no accounts. */
export async function startToolkitRegistry(): Promise<ToolkitRegistry> {
  const server = createServer((request, response) => {
    void answer(registry, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const registry: ToolkitRegistry = {
    access: { apiKey: API_KEY, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs: 2000 },
    accounts: [],
    toolkits: [
      { slug: 'slack', name: 'Slack', logo: 'https://logos.example.com/slack.svg' },
      { slug: 'gmail', name: 'Gmail', logo: '' },
      { slug: 'github', name: 'GitHub', logo: 'https://logos.example.com/github.svg' },
    ],
    tools: ['slack', 'gmail', 'github'].map((toolkit) => ({
      slug: `${toolkit.toUpperCase()}_SEND`,
      toolkit,
      description: `Sends with ${toolkit}.`,
      input_parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })),
    triggers: [
      {
        slug: 'GMAIL_NEW_GMAIL_MESSAGE',
        toolkit: 'gmail',
        name: 'New message',
        description: 'A message arrives.',
        config: { type: 'object', properties: { labelIds: { type: 'string' } } },
      },
      { slug: 'SLACK_ANYTHING', toolkit: 'slack', name: 'Anything', description: '', config: {} },
      {
        slug: 'GITHUB_COMMIT_EVENT',
        toolkit: 'github',
        name: 'Commit',
        description: 'A commit.',
        config: { type: 'object' },
      },
    ],
    instances: [],
    execute: (slug, body) => ({ body: { successful: true, error: null, data: { slug, ...body }, log_id: 'log_1' } }),
    fault: undefined,
    pageSize: 1000,
    requests: [],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return registry;
}

async function answer(registry: ToolkitRegistry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://registry');
  const query = Object.fromEntries(url.searchParams);
  const sent = await text(request).catch(() => '');
  const body: unknown = sent === '' ? undefined : JSON.parse(sent);
  const apiKey = request.headers['x-api-key'];
  registry.requests.push({
    method: request.method ?? '',
    path: url.pathname,
    query,
    apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    body,
  });
  const send = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  const refuse = (status: number, message: string) => send(status, { error: { message, status, request_id: 'req_1' } });
  const { fault } = registry;
  if (fault !== undefined) {
    if ('silence' in fault) return;
    if ('hangUp' in fault) return void request.socket.destroy();
    if ('status' in fault) return refuse(fault.status, 'secret detail');
    if ('redirect' in fault) return void response.writeHead(302, { location: fault.redirect }).end();
    if ('body' in fault) return void response.writeHead(200, { 'content-type': 'application/json' }).end(fault.body);
  }
  if (apiKey !== API_KEY) return refuse(401, 'Invalid API key');

  const list = (items: unknown[]) => {
    const size = Math.min(Number(query.limit ?? 20), registry.pageSize);
    const page = query.cursor === undefined ? 1 : Number(Buffer.from(query.cursor, 'base64').toString().split('-')[0]);
    const more = page * size < items.length || (fault !== undefined && 'endlessPages' in fault);
    send(200, {
      items: items.slice((page - 1) * size, page * size),
      total_pages: Math.ceil(items.length / size),
      current_page: page,
      total_items: items.length,
      next_cursor: more ? Buffer.from(`${page + 1}-${size}`).toString('base64') : null,
    });
  };
  const among = (filter: string | undefined, value: string) =>
    filter === undefined || filter.split(',').includes(value);
  const toolkitOf = (slug: string) => registry.toolkits.find((toolkit) => toolkit.slug === slug);
  const shownToolkit = ({ slug, name, logo }: { slug: string; name: string; logo: string }) => ({
    slug,
    name,
    enabled: true,
    is_local_toolkit: false,
    composio_managed_auth_schemes: ['OAUTH2'],
    meta: { logo, description: '', tools_count: 1, triggers_count: 1, categories: [] },
  });
  const shownTrigger = (trigger: ToolkitRegistry['triggers'][number]) => ({
    ...trigger,
    type: 'poll',
    instructions: '',
    payload: {},
    version: '20260101_00',
    toolkit: toolkitOf(trigger.toolkit),
  });
  const [, , , resource = '', ...rest] = url.pathname.split('/');
  const id = rest.map(decodeURIComponent).join('/');
  if (!url.pathname.startsWith('/api/v3/')) return refuse(404, 'Not found');
  if (resource === 'connected_accounts' && id === '') {
    const found = registry.accounts.filter((account) => among(query.connected_account_ids, account.id));
    return list(
      found.map(({ toolkit, is_disabled = false, ...account }) => ({
        ...account,
        is_disabled,
        status_reason: null,
        data: {},
        toolkit: { slug: toolkit },
        auth_config: { id: 'ac_1', is_composio_managed: true, is_disabled: false },
      })),
    );
  }
  if (resource === 'toolkits') {
    if (id === '') return list(registry.toolkits.map(shownToolkit));
    const toolkit = toolkitOf(id);
    return toolkit ? send(200, shownToolkit(toolkit)) : refuse(404, `Toolkit ${id} not found`);
  }
  if (resource === 'triggers_types') {
    if (id === '')
      return list(registry.triggers.filter((one) => among(query.toolkit_slugs, one.toolkit)).map(shownTrigger));
    const trigger = registry.triggers.find(({ slug }) => slug === id);
    return trigger ? send(200, shownTrigger(trigger)) : refuse(404, `Trigger ${id} not found`);
  }
  if (resource === 'tools' && id === '') {
    // Without a version the registry returns the first release of a toolkit, which had no tools here.
    const tools = query.toolkit_versions === 'latest' ? registry.tools : [];
    return list(
      tools
        .filter(({ toolkit }) => among(query.toolkit_slug, toolkit))
        .map((tool) => ({ is_deprecated: false, ...tool, name: tool.slug, toolkit: toolkitOf(tool.toolkit) })),
    );
  }
  if (resource === 'tools' && rest[0] === 'execute' && request.method === 'POST') {
    const given = body as Record<string, unknown>;
    if (!registry.tools.some(({ slug }) => slug === rest[1])) return refuse(404, 'Tool not found');
    // Documented: an account is used together with the user that it belongs to.
    const account = registry.accounts.find(({ id: accountId }) => accountId === given.connected_account_id);
    if (account?.user_id !== given.user_id) return refuse(400, 'No connected account found for this user and toolkit');
    const result = registry.execute(rest[1] ?? '', given);
    return send(result.status ?? 200, result.body);
  }
  if (resource === 'trigger_instances')
    return answerTrigger(registry, request.method ?? '', rest, { body, send, refuse });
  refuse(404, 'Not found');
}

let startedTriggers = 0;

/** docs.composio.dev/reference/v3: trigger_instances/{slug}/upsert and trigger_instances/manage/{triggerId} */
function answerTrigger(
  { accounts, triggers, instances }: ToolkitRegistry,
  method: string,
  [first = '', second = '']: string[],
  {
    body,
    send,
    refuse,
  }: {
    body: unknown;
    send: (status: number, value: unknown) => void;
    refuse: (status: number, message: string) => void;
  },
) {
  const given = body as Record<string, unknown> | undefined;
  if (method === 'POST' && second === 'upsert') {
    const { connected_account_id: accountId, trigger_config: config } = given ?? {};
    if (!triggers.some(({ slug }) => slug === first)) return refuse(404, 'Trigger not found');
    if (!accounts.some(({ id }) => id === accountId)) return refuse(400, 'Connected account not found');
    if (JSON.stringify(config).includes('refused')) return refuse(400, 'The label does not exist.');
    const same = (one: ToolkitRegistry['instances'][number]) =>
      one.slug === first && one.accountId === accountId && JSON.stringify(one.config) === JSON.stringify(config);
    let instance = instances.find(same);
    if (!instance) {
      instance = {
        id: `ti_${++startedTriggers}_${first}`,
        slug: first,
        accountId: String(accountId),
        config,
        enabled: true,
      };
      instances.push(instance);
    }
    instance.enabled = true;
    return send(201, { trigger_id: instance.id });
  }
  const at = instances.findIndex(({ id }) => id === second);
  if (first !== 'manage' || at === -1) return refuse(404, 'Trigger not found');
  if (method === 'DELETE') {
    instances.splice(at, 1);
    return send(200, { trigger_id: second });
  }
  const instance = instances[at];
  if (method !== 'PATCH' || !instance) return refuse(405, 'Method not allowed');
  instance.enabled = given?.status === 'enable';
  send(200, { status: 'success' });
}
