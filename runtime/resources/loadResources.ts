import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { type ResourceIds, type ResourceRows, readAgentResources } from '../../db/queries/agents/agentResources.ts';
import type { DB } from '../../generated/db.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { customModel } from '../models/customModel.ts';
import type { Runtime } from '../runtime.ts';
import type { Resources } from './resources.ts';
import type { Snapshot } from './snapshot.ts';

/** Whose resources, and as of when. */
export interface ResourceSubject {
  agentId: string;
  /** The published version that `snapshot` is of. */
  versionNumber: number;
  snapshot: Snapshot;
  /** The workspace's number in workspace_revisions, as it was read when the turn began; 0 when it has none. */
  revision: number;
}

interface Kept {
  revision: number;
  /** Characters of JSON that it was made of. */
  characters: number;
  linked: Omit<Resources, 'model'>;
  ownModel: ModelDescriptor | undefined;
  /** What was answered last: the same object again while the model is the same. */
  answered: Resources | undefined;
}

const MOST_KEPT = 500;
/** Of all together. Servers with many tools come to a megabyte each. */
const MOST_CHARACTERS = 64 * 1024 * 1024;
/** What an entry costs beside its text. */
const OVERHEAD = 2_000;

/**
 * What the links of published versions stand for, kept in memory for as long as the workspace's revision is the same: most turns read
 * none of it. One instance a process.
 */
export class ResourceCache {
  readonly #kept = new LRUCache<string, Kept>({
    max: MOST_KEPT,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ characters }) => characters + OVERHEAD,
  });
  readonly #loading = new Map<string, Promise<Kept>>();

  /**
   * The resources of a version, at least as new as the revision says. Reads them in one statement when they are not in memory,
   * however many ask at once. What fails is thrown to all who waited, and tried again for the next.
   */
  async get(
    db: Kysely<DB>,
    workspaceId: string,
    runtime: Pick<Runtime, 'findGlobalModel'>,
    subject: ResourceSubject,
  ): Promise<Resources> {
    const key = `${workspaceId}/${subject.agentId}/${subject.versionNumber}`;
    const kept = this.#kept.get(key);
    const current = kept?.revision === subject.revision ? kept : await this.#load(db, workspaceId, key, subject);
    // Asked for each time: prices of the catalogue change at midnight, without any change of the workspace.
    const id = subject.snapshot.aiModelPublicId;
    const model = id === null ? undefined : (runtime.findGlobalModel(id) ?? current.ownModel);
    if (current.answered === undefined || current.answered.model !== model) {
      current.answered = { ...current.linked, model };
    }
    return current.answered;
  }

  #load(db: Kysely<DB>, workspaceId: string, key: string, { snapshot, revision }: ResourceSubject): Promise<Kept> {
    const loadingKey = `${key}/${revision}`;
    const underWay = this.#loading.get(loadingKey);
    if (underWay) return underWay;
    const loading = load(db, workspaceId, snapshot, revision).then((fresh) => {
      // One that was asked for before a change may come in after one that was asked for behind it.
      if ((this.#kept.peek(key)?.revision ?? 0) <= revision) this.#kept.set(key, fresh);
      return fresh;
    });
    this.#loading.set(loadingKey, loading);
    const done = () => void this.#loading.delete(loadingKey);
    loading.then(done, done);
    return loading;
  }
}

async function load(db: Kysely<DB>, workspaceId: string, snapshot: Snapshot, revision: number): Promise<Kept> {
  const links = activeLinks(snapshot);
  const ids: ResourceIds = {
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
    linked: joined(links, rows),
    ownModel: model && customModel(model),
    answered: undefined,
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

/** Each link with what it leads to, where that is there. */
function joined(links: ReturnType<typeof activeLinks>, rows: ResourceRows): Omit<Resources, 'model'> {
  const finder = <Row extends { id: string }>(list: readonly Row[]) => {
    const byId = new Map(list.map((row) => [row.id, row]));
    return <Made>(id: string, make: (row: Row) => Made): Made[] => {
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
