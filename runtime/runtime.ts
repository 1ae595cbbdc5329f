import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { lruCache } from '../core/lruCache.ts';
import type { SecretBox } from '../core/secrets.ts';
import { findVersion } from '../db/queries/agents/agentVersions.ts';
import { type AiModelRow, findCustomModel, selectCustomModels } from '../db/queries/agents/aiModels.ts';
import type { DB } from '../generated/db.ts';
import type { ChannelOptions } from '../integrations/channels/providers.ts';
import type { MailSender } from '../integrations/mail/transport.ts';
import type { PaymentSettings } from '../integrations/payments/settings.ts';

import type { FileStore } from '../integrations/storage/storage.ts';
import type { Toolkits } from '../integrations/toolkits/toolkits.ts';
import type { WebSearchSettings } from '../integrations/webSearch/settings.ts';
import { RequestMemory } from './agent/requestMemory.ts';
import type { HubNames } from './hubs/hubNames.ts';
import { McpPool } from './mcp/pool.ts';
import { type CatalogueModel, findGlobalModel, listGlobalModels, type ModelDescriptor } from './models/catalogue.ts';
import { customModel } from './models/customModel.ts';
import { isConfigured } from './models/providers.ts';
import type { ModelSettings } from './models/settings.ts';
import { ResourceCache } from './resources/resourceCache.ts';
import { type Snapshot, snapshotOfVersion } from './resources/snapshot.ts';
import type { KnownAgent } from './turn/makeTurn.ts';
import { TurnRegistry } from './turn/turnRegistry.ts';

/** What the run-time is made from. */
export interface RuntimeOptions {
  models: ModelSettings;
  allowPrivateNetwork: boolean;
  clock: Clock;
  secrets: SecretBox;
  files: FileStore;
  temporaryDir: string;
  toolkits: Toolkits;
  webSearch: WebSearchSettings;
  channels: ChannelOptions;
  payments: PaymentSettings;
  mail: MailSender;
  /** Logs failures that a turn survives. */
  logger?: Pick<Logger, 'warn'>;
  /** The domain below which each hub has its subdomain. Absent: hubs are at `/hub/<subdomain>` of the service. */
  hubDomain?: string | undefined;
  /** Sees the names of all hubs. */
  hubNames: HubNames;
  /** The database handle for all workspaces: renews the leases of running turns. */
  system: Kysely<DB>;
}

/** The run-time as one workspace uses it. */
export interface WorkspaceRuntime {
  /** Bound to the workspace. */
  readonly db: Kysely<DB>;
  readonly workspaceId: string;
  readonly runtime: Runtime;
}

/** A model as lists show it: one of the catalogue, or one that the workspace added. */
export type ListedModel = Omit<CatalogueModel, 'scope' | 'priceDetails'> & { scope: 'global' | 'workspace' };

/** Snapshots in memory. A snapshot never changes, so none of them expires. */
const MAX_SNAPSHOTS = 500;

/** What agents run on: models, published snapshots, credentials, files, toolkits and the running turns. One instance in each process. */
export class Runtime {
  readonly models: ModelSettings;
  readonly allowPrivateNetwork: boolean;
  readonly clock: Clock;
  /** Encrypts credentials of tools and servers, which are stored and read again. */
  readonly secrets: SecretBox;
  /** Uploaded files. */
  readonly files: FileStore;
  /** Absolute path of the folder for temporary files. */
  readonly temporaryDir: string;
  readonly toolkits: Toolkits;
  /** The services that search the web. Without any, web search says that it is not configured. */
  readonly webSearch: WebSearchSettings;
  /** Where the messaging providers are; `providerOf` takes it. */
  readonly channels: ChannelOptions;
  /** Sends mails. */
  readonly mail: MailSender;
  /** How the payment provider is reached; `paymentsOf` takes it. */
  readonly payments: PaymentSettings;
  /** Connections to the MCP servers of all workspaces. */
  readonly mcp: McpPool;
  readonly turns: TurnRegistry;
  /** Public base address of the service, without a slash at the end. Empty until the service listens. */
  publicUrl = '';
  readonly hubDomain: string | undefined;
  /** The names of the hubs of all workspaces. */
  readonly hubNames: HubNames;
  /** Called when a reply was stored that goes out over a channel. */
  onDeliveries: ((workspaceId: string, conversationId: string) => void) | undefined;
  readonly logger: Pick<Logger, 'warn'> | undefined;
  /** The current resources behind the links of published versions. */
  readonly resources = new ResourceCache();
  /** What is known of agents that have answered, by workspace and agent. The statement that begins a turn says whether it still holds. */
  readonly agents = lruCache<string, KnownAgent>(MAX_SNAPSHOTS);
  /** What is known of the requests to models that are stored. */
  readonly requests = new RequestMemory();
  readonly #snapshots = lruCache<string, Snapshot>(MAX_SNAPSHOTS);

  constructor(options: RuntimeOptions) {
    this.models = options.models;
    this.allowPrivateNetwork = options.allowPrivateNetwork;
    this.clock = options.clock;
    this.secrets = options.secrets;
    this.files = options.files;
    this.temporaryDir = options.temporaryDir;
    this.toolkits = options.toolkits;
    this.webSearch = options.webSearch;
    this.channels = options.channels;
    this.mail = options.mail;
    this.hubDomain = options.hubDomain;
    this.hubNames = options.hubNames;
    this.payments = options.payments;
    this.mcp = new McpPool({ allowPrivateNetwork: options.allowPrivateNetwork });
    this.turns = new TurnRegistry(options.system);
    this.logger = options.logger;
  }

  /** Closes the connections to the outside. Does not end running turns. */
  async close(): Promise<void> {
    await this.mcp.close();
  }

  /** Returns the model of the global catalogue with this id, active or not. */
  findGlobalModel(id: string): CatalogueModel | undefined {
    return findGlobalModel(this.models, id, this.clock.now());
  }

  /** Returns the model with this id that the workspace can choose: one of the catalogue, or its own. */
  async findModel(db: Kysely<DB>, workspaceId: string, id: string): Promise<ModelDescriptor | undefined> {
    const known = this.findGlobalModel(id.toLowerCase());
    if (known) return known;
    const row = await findCustomModel(db, workspaceId, id);
    return row && this.#listed(row);
  }

  /** Returns every model that the workspace can choose, active or not. */
  async listModels(db: Kysely<DB>, workspaceId: string): Promise<ListedModel[]> {
    const own = await selectCustomModels(db, workspaceId);
    return [...listGlobalModels(this.models, this.clock.now()), ...own.map((row) => this.#listed(row))];
  }

  /** Returns the snapshot of a published version; undefined when no version has this number. */
  async snapshot(
    db: Kysely<DB>,
    workspaceId: string,
    agentId: string,
    versionNumber: number,
  ): Promise<Snapshot | undefined> {
    const key = `${workspaceId}/${agentId}/${versionNumber}`;
    const cached = this.#snapshots.get(key);
    if (cached) return cached;
    const row = await findVersion(db, workspaceId, agentId, versionNumber);
    if (!row) return undefined;
    const snapshot = snapshotOfVersion(row);
    this.#snapshots.set(key, snapshot);
    return snapshot;
  }

  #listed(row: AiModelRow): ListedModel {
    const model = customModel(row);
    return {
      ...model,
      displayProvider: row.display_provider,
      description: row.description ?? '',
      iconUrl: row.icon_url,
      scope: 'workspace',
      active: row.active && isConfigured(this.models, model.provider),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }
}
