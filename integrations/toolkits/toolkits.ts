import { BUILTIN_TOOLKITS } from './builtin/catalogue.ts';
import { BUILTIN_TRIGGERS } from './builtin/triggers.ts';
import type { Registry } from './registry.ts';
import type { ToolkitSettings } from './settings.ts';
import type {
  Connection,
  ConnectionState,
  ToolCall,
  ToolContext,
  Toolkit,
  ToolkitTool,
  ToolResult,
  TriggerType,
} from './toolkit.ts';
import { ToolLists } from './toolLists.ts';

export type * from './toolkit.ts';

/** The settings, and whether tools may reach private networks. */
export interface ToolkitOptions extends ToolkitSettings {
  allowPrivateNetwork: boolean;
}

/** Toolkits that only exist here. The registry is not asked for their triggers. */
const OURS_ALONE: ReadonlySet<string> = new Set([...BUILTIN_TOOLKITS.map(({ slug }) => slug), 'webhook']);

/** The state of a connection that works. */
export const ACTIVE = 'ACTIVE';

/**
 * The toolkits of both providers: the built-in ones, which run in this process, and those of the registry. A method that needs the
 * registry throws TOOLKIT_REGISTRY_UNAVAILABLE when it does not respond or is not configured. Built-in toolkits never throw that.
 * There is one instance per process.
 */
export class Toolkits {
  readonly #options: ToolkitOptions;
  #registry: Registry | undefined;
  readonly #remoteTools = new ToolLists({ read: async (slug) => (await this.#remote()).tools(slug) });
  /** They are part of this release. */
  readonly #builtinTools = new Map<string, Promise<ToolkitTool[]>>();

  constructor(options: ToolkitOptions) {
    this.#options = options;
  }

  /** Every toolkit that has tools, the built-in ones first. */
  async listToolkits(): Promise<Toolkit[]> {
    if (!this.#options.composio) return [...BUILTIN_TOOLKITS];
    return [...BUILTIN_TOOLKITS, ...(await (await this.#remote()).listToolkits())];
  }

  /** Returns the present state of each connection by its id. Asks the registry only when it has one of them. */
  async states(connections: readonly Connection[]): Promise<Map<string, ConnectionState>> {
    const accountIds = connections.flatMap(({ external_id }) => external_id ?? []);
    const registry = accountIds.length > 0 ? await this.#remote() : undefined;
    const accounts = await registry?.accounts(accountIds);
    const toolkits = new Map<string, Toolkit | undefined>();
    if (registry) {
      const remote = connections.filter(({ provider }) => provider === 'composio');
      const slugs = new Set(remote.map(({ toolkit_slug }) => toolkit_slug));
      // In parallel, so that many do not take longer than one. They are few, and cached.
      await Promise.all([...slugs].map(async (slug) => toolkits.set(slug, await registry.toolkit(slug))));
    }
    return new Map(
      connections.map(({ id, provider, toolkit_slug: slug, external_id }): [string, ConnectionState] => {
        const nameless = { slug, name: slug, iconUrl: null };
        if (provider === 'builtin') {
          const toolkit = BUILTIN_TOOLKITS.find((one) => one.slug === slug);
          return [id, { status: toolkit ? ACTIVE : 'INACTIVE', toolkit: toolkit ?? nameless }];
        }
        // The registry no longer has the account.
        const status = accounts?.get(external_id ?? '')?.status ?? 'DELETED';
        return [id, { status, toolkit: toolkits.get(slug) ?? nameless }];
      }),
    );
  }

  /** Lists the tools of a connection. */
  async listTools({ provider, toolkit_slug }: Connection): Promise<ToolkitTool[]> {
    if (provider === 'composio') return (await this.#remote()).tools(toolkit_slug);
    return (await import('./builtin/provider.ts')).listBuiltinTools(toolkit_slug);
  }

  /**
   * Lists the tools of a connection for callers that cannot wait. Lists of the registry may be some minutes old. A registry that does
   * not respond is waited for two seconds, and then not at all for fifteen seconds. Throws TOOLKIT_REGISTRY_UNAVAILABLE.
   */
  async knownTools(connection: Connection): Promise<readonly ToolkitTool[]> {
    const { provider, toolkit_slug: slug } = connection;
    if (provider === 'composio') return this.#remoteTools.of(slug);
    const known = this.#builtinTools.get(slug);
    if (known) return known;
    const listing = this.listTools(connection);
    this.#builtinTools.set(slug, listing);
    listing.catch(() => this.#builtinTools.delete(slug));
    return listing;
  }

  /**
   * Calls a tool of a connection. A tool that fails or does not exist gives an error result. Throws the reason of the context's
   * signal, and errors of what a built-in tool uses, such as the database.
   */
  async callTool(connection: Connection, call: ToolCall, context: ToolContext): Promise<ToolResult> {
    const { provider, toolkit_slug, external_id } = connection;
    if (provider === 'composio') {
      return (await this.#remote()).execute(external_id ?? '', toolkit_slug, call, context.signal);
    }
    const { allowPrivateNetwork } = this.#options;
    const { callBuiltinTool } = await import('./builtin/provider.ts');
    return callBuiltinTool(toolkit_slug, call, { context, allowPrivateNetwork });
  }

  /** The triggers of a toolkit, the built-in ones first; undefined when neither provider has the toolkit. */
  async triggers(toolkit: string): Promise<TriggerType[] | undefined> {
    const own = BUILTIN_TRIGGERS.filter((trigger) => trigger.toolkit === toolkit);
    if (OURS_ALONE.has(toolkit)) return own;
    const remote = this.#options.composio ? await (await this.#remote()).triggers(toolkit) : undefined;
    if (own.length === 0 && !remote) return undefined;
    const slugs = new Set(own.map(({ slug }) => slug));
    return [...own, ...(remote ?? []).filter(({ slug }) => !slugs.has(slug))];
  }

  /** Returns the trigger with this slug. Makes no request for a built-in one. */
  async trigger(slug: string): Promise<TriggerType | undefined> {
    const own = BUILTIN_TRIGGERS.find((trigger) => trigger.slug === slug);
    if (own || !this.#options.composio) return own;
    return (await this.#remote()).trigger(slug);
  }

  /** Starts a trigger of the registry for a connection, and returns its id. Throws TriggerRefused and TOOLKIT_REGISTRY_UNAVAILABLE. */
  async startTrigger({ external_id }: Connection, slug: string, config: Record<string, unknown>): Promise<string> {
    const { startTrigger } = await import('./registryTriggers.ts');
    return startTrigger(await this.#remote(), { slug, accountId: external_id ?? '', config });
  }

  /** Ends a trigger of the registry: `pause` lets it be started again. Throws TOOLKIT_REGISTRY_UNAVAILABLE. */
  async endTrigger(triggerId: string, { pause }: { pause: boolean }): Promise<void> {
    const { pauseTrigger, removeTrigger } = await import('./registryTriggers.ts');
    await (pause ? pauseTrigger : removeTrigger)(await this.#remote(), triggerId);
  }

  /** What the registry signs its events with; undefined: none are taken. */
  get webhookSecret(): string | undefined {
    return this.#options.composio?.webhookSecret;
  }

  /** The registry's client, loaded at the first use. */
  async #remote(): Promise<Registry> {
    const { Registry, unavailable } = await import('./registry.ts');
    const { composio } = this.#options;
    if (!composio) throw unavailable('COMPOSIO_API_KEY is not set');
    this.#registry ??= new Registry(composio);
    return this.#registry;
  }
}
