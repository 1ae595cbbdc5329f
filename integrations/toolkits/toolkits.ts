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

/** Toolkits that no registry has: it is not asked for their triggers. */
const OURS_ALONE: ReadonlySet<string> = new Set([...BUILTIN_TOOLKITS.map(({ slug }) => slug), 'webhook']);

/** The state of a connection that works. */
export const ACTIVE = 'ACTIVE';

/**
 * The toolkits of both providers: the built-in ones, which run in this process, and those of the registry when there is one. What
 * needs the registry throws TOOLKIT_REGISTRY_UNAVAILABLE when it does not answer or is not configured; what is built in never does.
 * One instance a process.
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

  /** The present state of each connection, by its id. The registry is asked only when one of them is there. */
  async states(connections: readonly Connection[]): Promise<Map<string, ConnectionState>> {
    const accountIds = connections.flatMap(({ external_id }) => external_id ?? []);
    const registry = accountIds.length > 0 ? await this.#remote() : undefined;
    const accounts = await registry?.accounts(accountIds);
    const toolkits = new Map<string, Toolkit | undefined>();
    if (registry) {
      const remote = connections.filter(({ provider }) => provider === 'composio');
      const slugs = new Set(remote.map(({ toolkit_slug }) => toolkit_slug));
      // Together, so that a slow registry takes no longer for many; they are few, and kept for a while.
      await Promise.all([...slugs].map(async (slug) => toolkits.set(slug, await registry.toolkit(slug))));
    }
    return new Map(
      connections.map(({ id, provider, toolkit_slug: slug, external_id }): [string, ConnectionState] => {
        const nameless = { slug, name: slug, iconUrl: null };
        if (provider === 'builtin') {
          const toolkit = BUILTIN_TOOLKITS.find((one) => one.slug === slug);
          return [id, { status: toolkit ? ACTIVE : 'INACTIVE', toolkit: toolkit ?? nameless }];
        }
        // An account that the registry no longer has.
        const status = accounts?.get(external_id ?? '')?.status ?? 'DELETED';
        return [id, { status, toolkit: toolkits.get(slug) ?? nameless }];
      }),
    );
  }

  /** The tools of a connection, as a model is told of them. */
  async listTools({ provider, toolkit_slug }: Connection): Promise<ToolkitTool[]> {
    if (provider === 'composio') return (await this.#remote()).tools(toolkit_slug);
    return (await import('./builtin/provider.ts')).listBuiltinTools(toolkit_slug);
  }

  /**
   * The tools of a connection as far as they are known, for what cannot wait: those of the registry may be some minutes old, and one
   * that does not answer is waited for two seconds once, and then not for fifteen. Throws TOOLKIT_REGISTRY_UNAVAILABLE.
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
   * Calls a tool of a connection. A tool that cannot do what was asked, or does not exist, is an error result; also thrown is the
   * reason of the context's signal, and what fails around a built-in tool, such as the database.
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

  /** The trigger with this slug. A built-in one is told without asking the registry. */
  async trigger(slug: string): Promise<TriggerType | undefined> {
    const own = BUILTIN_TRIGGERS.find((trigger) => trigger.slug === slug);
    if (own || !this.#options.composio) return own;
    return (await this.#remote()).trigger(slug);
  }

  /** The registry, loaded when it is first needed. */
  async #remote(): Promise<Registry> {
    const { Registry, unavailable } = await import('./registry.ts');
    const { composio } = this.#options;
    if (!composio) throw unavailable('COMPOSIO_API_KEY is not set');
    this.#registry ??= new Registry(composio);
    return this.#registry;
  }
}
