import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { type ResourceIds, type ResourceRows, readAgentResources } from '../../db/queries/agents/agentResources.ts';
import type { DB } from '../../generated/db.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { customModel } from '../models/customModel.ts';
import type { Runtime } from '../runtime.ts';
import type { Resources } from './resources.ts';
import type { Snapshot } from './snapshot.ts';

/** The published version whose resources are loaded, and the revision that they must have. */
export interface ResourceSubject {
  agentId: string;
  /** The published version that `snapshot` is of. */
  versionNumber: number;
  snapshot: Snapshot;
  /** The revision of the workspace (workspace_revisions) when the turn began; 0 when it has no row. */
  revision: number;
}

/** The resources of one version in the cache. */
interface CacheEntry {
  revision: number;
  /** Characters of the JSON that the database returned: the measure of its size. */
  characters: number;
  linked: Omit<Resources, 'model'>;
  ownModel: ModelDescriptor | undefined;
  /** The last result: `get` returns the same object while the model is the same. */
  lastResult: Resources | undefined;
}

const MAX_ENTRIES = 500;
/** Characters of all entries together. An MCP server with many tools can take a megabyte. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Size of an entry without its text, in the same unit. */
const ENTRY_OVERHEAD = 2_000;

/**
 * Caches the resources behind the links of published versions. An entry is valid while the revision of its workspace is the same, so
 * most turns read nothing from the database. One instance in each process.
 */
export class ResourceCache {
  readonly #entries = new LRUCache<string, CacheEntry>({
    max: MAX_ENTRIES,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ characters }) => characters + ENTRY_OVERHEAD,
  });
  readonly #loading = new Map<string, Promise<CacheEntry>>();

  /**
   * Returns the resources of a version, at least as new as the revision. Reads them with one statement when they are not in memory;
   * concurrent calls share it. When it fails, all of these calls throw, and the next call reads again.
   */
  async get(
    db: Kysely<DB>,
    workspaceId: string,
    runtime: Pick<Runtime, 'findGlobalModel'>,
    subject: ResourceSubject,
  ): Promise<Resources> {
    const known = this.known(workspaceId, runtime, subject);
    if (known) return known;
    return resourcesOf(await this.#load(db, workspaceId, keyOf(workspaceId, subject), subject), runtime, subject);
  }

  /** Returns the resources of a version when they are in memory as they were at the revision. */
  known(
    workspaceId: string,
    runtime: Pick<Runtime, 'findGlobalModel'>,
    subject: ResourceSubject,
  ): Resources | undefined {
    const cached = this.#entries.get(keyOf(workspaceId, subject));
    return cached?.revision === subject.revision ? resourcesOf(cached, runtime, subject) : undefined;
  }

  #load(
    db: Kysely<DB>,
    workspaceId: string,
    key: string,
    { agentId, snapshot, revision }: ResourceSubject,
  ): Promise<CacheEntry> {
    const loadingKey = `${key}/${revision}`;
    const pending = this.#loading.get(loadingKey);
    if (pending) return pending;
    const loading = load(db, workspaceId, { agentId, snapshot, revision }).then((fresh) => {
      // An older read can finish after a newer one.
      if ((this.#entries.peek(key)?.revision ?? 0) <= revision) this.#entries.set(key, fresh);
      return fresh;
    });
    this.#loading.set(loadingKey, loading);
    const done = () => void this.#loading.delete(loadingKey);
    loading.then(done, done);
    return loading;
  }
}

function keyOf(workspaceId: string, { agentId, versionNumber }: ResourceSubject): string {
  return `${workspaceId}/${agentId}/${versionNumber}`;
}

function resourcesOf(
  entry: CacheEntry,
  runtime: Pick<Runtime, 'findGlobalModel'>,
  { snapshot: { aiModelPublicId: id } }: ResourceSubject,
): Resources {
  // Looked up in each call: prices of the catalogue can change at midnight, and the revision stays the same.
  const model = id === null ? undefined : (runtime.findGlobalModel(id) ?? entry.ownModel);
  if (entry.lastResult === undefined || entry.lastResult.model !== model) {
    entry.lastResult = { ...entry.linked, model };
  }
  return entry.lastResult;
}

async function load(
  db: Kysely<DB>,
  workspaceId: string,
  { agentId, snapshot, revision }: Omit<ResourceSubject, 'versionNumber'>,
): Promise<CacheEntry> {
  const links = activeLinks(snapshot);
  const ids: ResourceIds = {
    agent: agentId,
    httpTools: links.httpTools.map(({ httpToolPublicId }) => httpToolPublicId),
    externalMcps: links.externalMcps.map(({ externalMcpPublicId }) => externalMcpPublicId),
    nativeMcps: links.nativeMcps.map(({ connectionPublicId }) => connectionPublicId),
    skills: links.skills.map(({ skillPublicId }) => skillPublicId),
    subAgents: links.subAgents.map(({ subAgentPublicId }) => subAgentPublicId),
    model: snapshot.aiModelPublicId,
  };
  const { rows, characters } = await readAgentResources(db, workspaceId, ids);
  const [model] = rows.models;
  return {
    revision,
    characters,
    linked: join(links, rows),
    ownModel: model && customModel(model),
    lastResult: undefined,
  };
}

function activeLinks(snapshot: Snapshot) {
  const active = <Link extends { active: boolean }>(links: readonly Link[] = []) => links.filter((link) => link.active);
  return {
    httpTools: active(snapshot.httpTools),
    externalMcps: active(snapshot.externalMcps),
    nativeMcps: snapshot.nativeMcps ?? [],
    skills: active(snapshot.skills),
    knowledgeSources: active(snapshot.knowledgeSources),
    subAgents: snapshot.subAgents ?? [],
  };
}

/** Joins each link with its row. A link without a row (deleted, inactive) is left out. */
function join(links: ReturnType<typeof activeLinks>, rows: ResourceRows): Omit<Resources, 'model'> {
  const finder = <Row extends { id: string }>(list: readonly Row[]) => {
    const byId = new Map(list.map((row) => [row.id, row]));
    return <Item>(id: string, make: (row: Row) => Item): Item[] => {
      const row = byId.get(id);
      return row ? [make(row)] : [];
    };
  };
  const tool = finder(rows.httpTools);
  const server = finder(rows.externalMcps);
  const connection = finder(rows.nativeMcps);
  const skill = finder(rows.skills);
  const agent = finder(rows.subAgents);
  return {
    hasChannel: rows.hasChannel,
    httpTools: links.httpTools.flatMap((link) =>
      tool(link.httpToolPublicId, (row) => ({ row, requiresApproval: link.requiresApproval || row.requires_approval })),
    ),
    externalMcps: links.externalMcps.flatMap(({ externalMcpPublicId, instanceMode, requiresApproval }) =>
      server(externalMcpPublicId, (row) => ({ row, instanceMode, requiresApproval })),
    ),
    nativeMcps: links.nativeMcps.flatMap(({ connectionPublicId, instanceMode }) =>
      connection(connectionPublicId, (row) => ({ row, instanceMode })),
    ),
    skills: links.skills.flatMap(({ skillPublicId }) => skill(skillPublicId, (row) => row)),
    knowledgeSourceIds: links.knowledgeSources.map(({ knowledgeSourcePublicId }) => knowledgeSourcePublicId),
    subAgents: links.subAgents.flatMap(({ subAgentPublicId, description, aiModelPublicId }) =>
      agent(subAgentPublicId, (row) => ({
        id: row.id,
        name: row.name,
        description: description ?? row.description ?? '',
        publishedVersionNumber: row.published_version_number,
        aiModelPublicId,
      })),
    ),
  };
}
