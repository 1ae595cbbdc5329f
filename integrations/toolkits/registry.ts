import { z } from 'zod';
import { fault } from '../../core/errors.ts';
import { lruCache } from '../../core/lruCache.ts';
import { guardedFetch } from '../../core/outgoing.ts';
import type { RegistryAccess } from './settings.ts';
import {
  type ToolCall,
  type Toolkit,
  type ToolkitTool,
  type ToolResult,
  type TriggerType,
  toolResult,
} from './toolkit.ts';

/*
 * A registry that speaks Composio's HTTP API, version 3 (docs.composio.dev/reference/v3): `x-api-key`, lists in pages with
 * `next_cursor`, lists of values joined with commas. A response in another form is refused.
 */

const TIMEOUT_MS = 10_000;
/** Longer, because a tool calls the service of a third party. */
const EXECUTION_TIMEOUT_MS = 60_000;
const MAX_BYTES = 8_000_000;
/** Pages of one list. A registry with more pages, or with pages in a circle, is refused. */
const MAX_PAGES = 30;
const PAGE_SIZE = 200;
/** Accounts in one request: their ids are in the address. */
const ACCOUNTS_AT_ONCE = 50;
/** Names, pictures and tools change with releases of the toolkit. States of accounts are never cached. */
const CACHE_TTL_MS = 10 * 60_000;

const SLUG = /^[A-Za-z0-9_-]{1,200}$/;

const schema = z.record(z.string(), z.unknown());
const accountPage = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      status: z.string().min(1).max(100),
      user_id: z.string().nullish(),
      is_disabled: z.boolean().nullish(),
    }),
  ),
  next_cursor: z.string().nullish(),
});
const toolkitAnswer = z.object({
  slug: z.string(),
  name: z.string(),
  meta: z.object({ logo: z.string().nullish() }).nullish(),
});
const toolkitPage = z.object({ items: z.array(toolkitAnswer), next_cursor: z.string().nullish() });
const toolPage = z.object({
  items: z.array(
    z.object({
      slug: z.string(),
      description: z.string().nullish(),
      input_parameters: schema.nullish(),
      is_deprecated: z.boolean().nullish(),
    }),
  ),
  next_cursor: z.string().nullish(),
});
const triggerAnswer = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  toolkit: z.object({ slug: z.string() }),
  config: schema.nullish(),
});
const triggerPage = z.object({ items: z.array(triggerAnswer), next_cursor: z.string().nullish() });
const execution = z.object({ successful: z.boolean(), data: z.unknown(), error: z.unknown() });
/** How the registry says why it refuses a request. */
export const refusal = z.object({ error: z.object({ message: z.string() }) });

/** A connected account of the registry. */
export interface ConnectedAccount {
  status: string;
  /** The registry's id of the account's owner. */
  userId: string | null;
}

/** What the registry said. */
export interface RegistryAnswer {
  /** False: the registry refused the request. */
  answered: boolean;
  status: number;
  body: unknown;
}

/** A request to the registry. */
export interface RegistryRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  query?: Record<string, string>;
  body?: unknown;
  /** The deadline of the whole call, in `performance.now()`. */
  deadline?: number;
  signal?: AbortSignal | undefined;
}

/** Statuses that refuse this service's access to the registry, and not the single request. */
const ABOUT_ACCESS = new Set([401, 402, 403, 407, 408, 429]);

/**
 * The remote registry. Each method throws TOOLKIT_REGISTRY_UNAVAILABLE when the registry is not reached in time, refuses the key,
 * fails or returns an invalid response. The fault's cause has the details, for the log.
 */
export class Registry {
  readonly #access: RegistryAccess;
  readonly #toolkits = lruCache<string, { found: Toolkit | undefined }>(1000, { ttl: CACHE_TTL_MS });
  readonly #tools = lruCache<string, ToolkitTool[]>(100, { ttl: CACHE_TTL_MS });

  constructor(access: RegistryAccess) {
    this.#access = access;
  }

  /** Returns the present state of the accounts with these ids. Leaves out those that no longer exist. */
  async accounts(ids: readonly string[]): Promise<Map<string, ConnectedAccount>> {
    const accounts = new Map<string, ConnectedAccount>();
    const wanted = [...new Set(ids)];
    const deadline = this.#deadline();
    for (let start = 0; start < wanted.length; start += ACCOUNTS_AT_ONCE) {
      const some = wanted.slice(start, start + ACCOUNTS_AT_ONCE);
      const query = { connected_account_ids: some.join(',') };
      for (const item of await this.#pages('/connected_accounts', query, accountPage, deadline)) {
        const status = item.is_disabled && item.status === 'ACTIVE' ? 'INACTIVE' : item.status;
        if (some.includes(item.id)) accounts.set(item.id, { status, userId: item.user_id ?? null });
      }
    }
    return accounts;
  }

  /** The toolkit with this slug. */
  async toolkit(slug: string): Promise<Toolkit | undefined> {
    const kept = this.#toolkits.get(slug);
    if (kept) return kept.found;
    const answer = await this.#find('/toolkits/', slug, toolkitAnswer);
    const found = answer && toolkitOf(answer);
    this.#toolkits.set(slug, { found });
    return found;
  }

  /** Every toolkit. */
  async listToolkits(): Promise<Toolkit[]> {
    return (await this.#pages('/toolkits', {}, toolkitPage, this.#deadline())).map(toolkitOf);
  }

  /** The tools of a toolkit, in its latest version. */
  async tools(toolkit: string): Promise<ToolkitTool[]> {
    const kept = this.#tools.get(toolkit);
    if (kept) return kept;
    const query = { toolkit_slug: toolkit, toolkit_versions: 'latest' };
    const items = await this.#pages('/tools', query, toolPage, this.#deadline());
    const tools = items
      .filter(({ is_deprecated }) => !is_deprecated)
      .map(({ slug, description, input_parameters }) => ({
        name: slug,
        description: description ?? '',
        inputSchema: { type: 'object', ...input_parameters },
      }));
    this.#tools.set(toolkit, tools);
    return tools;
  }

  /** Calls a tool with an account. Refuses tools of other toolkits, because an account is for one toolkit. */
  async execute(accountId: string, toolkit: string, call: ToolCall, signal?: AbortSignal): Promise<ToolResult> {
    signal?.throwIfAborted();
    const known = (await this.tools(toolkit)).some(({ name }) => name === call.name);
    if (!known) return toolResult(`The toolkit ${toolkit} has no tool "${call.name}".`, true);
    const account = (await this.accounts([accountId])).get(accountId);
    if (account?.status !== 'ACTIVE')
      return toolResult('The connection is not active. It must be authorized again.', true);
    const { answered, status, body } = await this.ask(`/tools/execute/${call.name}`, {
      method: 'POST',
      body: {
        connected_account_id: accountId,
        ...(account.userId === null ? {} : { user_id: account.userId }),
        version: 'latest',
        arguments: call.arguments,
      },
      deadline: performance.now() + EXECUTION_TIMEOUT_MS,
      signal,
    });
    if (!answered) {
      const { data } = refusal.safeParse(body);
      return toolResult(data?.error.message ?? `The registry refused the call with status ${status}.`, true);
    }
    const { successful, data, error } = this.#read(execution, body, '/tools/execute');
    if (!successful) return toolResult(typeof error === 'string' && error !== '' ? error : 'The tool failed.', true);
    return toolResult(typeof data === 'string' ? data : JSON.stringify(data ?? null));
  }

  /** The triggers of a toolkit, in the registry's order; undefined when there is no such toolkit. */
  async triggers(toolkit: string): Promise<TriggerType[] | undefined> {
    // Checked first: for an unknown toolkit the registry may return an empty list or an error.
    if (!(await this.toolkit(toolkit))) return undefined;
    const query = { toolkit_slugs: toolkit, toolkit_versions: 'latest' };
    const items = await this.#pages('/triggers_types', query, triggerPage, this.#deadline());
    return items.map(triggerOf).filter((trigger) => trigger.toolkit === toolkit);
  }

  /** The trigger with this slug. */
  async trigger(slug: string): Promise<TriggerType | undefined> {
    const answer = await this.#find('/triggers_types/', slug, triggerAnswer);
    return answer && triggerOf(answer);
  }

  #deadline(): number {
    return performance.now() + (this.#access.timeoutMs ?? TIMEOUT_MS);
  }

  /** Reads one item by its slug. Makes no request for a slug that would change the address. */
  async #find<T>(path: string, slug: string, shape: z.ZodType<T>): Promise<T | undefined> {
    if (!SLUG.test(slug)) return undefined;
    const { answered, body } = await this.ask(path + slug, { deadline: this.#deadline() });
    return answered ? this.#read(shape, body, path) : undefined;
  }

  async #pages<Item>(
    path: string,
    query: Record<string, string>,
    shape: z.ZodType<{ items: Item[]; next_cursor?: string | null | undefined }>,
    deadline: number,
  ): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const asked = { ...query, limit: String(PAGE_SIZE), ...(cursor === undefined ? {} : { cursor }) };
      const { answered, status, body } = await this.ask(path, { query: asked, deadline });
      if (!answered) throw unavailable(`${path} answered ${status}`);
      const answer = this.#read(shape, body, path);
      items.push(...answer.items);
      if (!answer.next_cursor) return items;
      cursor = answer.next_cursor;
    }
    throw unavailable(`${path} has more than ${MAX_PAGES} pages`);
  }

  #read<T>(shape: z.ZodType<T>, body: unknown, path: string): T {
    const parsed = shape.safeParse(body);
    if (!parsed.success) throw unavailable(`${path} answered in another shape`, parsed.error);
    return parsed.data;
  }

  /** Makes one request below `/api/v3`. */
  async ask(
    path: string,
    { method = 'GET', query = {}, body, deadline = this.#deadline(), signal }: RegistryRequest,
  ): Promise<RegistryAnswer> {
    const url = new URL(`${this.#access.baseUrl}/api/v3${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    let response: Awaited<ReturnType<typeof guardedFetch>>;
    try {
      response = await guardedFetch(url, {
        method,
        headers: {
          'x-api-key': this.#access.apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        accept: 'application/json',
        timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
        maxBytes: MAX_BYTES,
        // The operator chose the address. A redirect would send the key elsewhere.
        allowPrivateNetwork: true,
        workspaceId: null,
        maxRedirects: 0,
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw unavailable(`${path} could not be asked`, error);
    }
    const { status } = response;
    const answered = status === 200 || status === 201 || status === 204;
    const refused = status >= 400 && status < 500 && !ABOUT_ACCESS.has(status);
    if (!answered && !refused) throw unavailable(`${path} answered ${status}`);
    try {
      const text = response.body.toString('utf8');
      return { answered, status, body: status === 204 ? undefined : JSON.parse(text) };
    } catch (error) {
      throw unavailable(`${path} answered ${status} without JSON`, error);
    }
  }
}

/** The fault; `reason` and cause are for the log. */
export function unavailable(reason: string, cause?: unknown): Error {
  const detail = new Error(`Toolkit registry: ${reason}.`, cause === undefined ? undefined : { cause });
  return fault('TOOLKIT_REGISTRY_UNAVAILABLE', undefined, { cause: detail });
}

function toolkitOf({ slug, name, meta }: z.output<typeof toolkitAnswer>): Toolkit {
  const logo = meta?.logo ?? '';
  return { slug, name, iconUrl: /^https?:$/.test(URL.parse(logo)?.protocol ?? '') ? logo : null };
}

function triggerOf({ slug, name, description, toolkit, config }: z.output<typeof triggerAnswer>): TriggerType {
  const none = { type: 'object', properties: {}, additionalProperties: false };
  const configSchema = config && Object.keys(config).length > 0 ? config : none;
  return { slug, name, description: description || null, toolkit: toolkit.slug, configSchema };
}
