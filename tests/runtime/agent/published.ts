import type { Kysely, KyselyPlugin } from 'kysely';
import type { LinkKind } from '../../../db/queries/agents/agentLinks.ts';
import type { DB } from '../../../generated/db.ts';
import type { ResourceSubject } from '../../../runtime/resources/resourceCache.ts';
import { makeReadyAgent, publish } from '../../support/agents/agents.ts';
import { LINK_APIS, link } from '../../support/agents/links.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import type { TestApp } from '../../support/http/app.ts';

/** The workspace's revision as a turn reads it. */
export async function revisionOf({ db, workspaceId }: SeededWorkspace): Promise<number> {
  const row = await db
    .selectFrom('workspace_revisions')
    .select('revision')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row?.revision ?? 0;
}

/** The published version of an agent, and the revision that the workspace has now. */
export async function subjectOf(app: TestApp, agentId: string): Promise<ResourceSubject> {
  const { db, workspaceId } = app.workspace;
  const snapshot = await app.service.runtime.snapshot(db, workspaceId, agentId, 1);
  if (!snapshot) throw new Error(`The agent ${agentId} has no version 1.`);
  return { agentId, versionNumber: 1, snapshot, revision: await revisionOf(app.workspace) };
}

/** A published agent with links, made one after the other. */
export async function publishedWith(app: TestApp, links: readonly [LinkKind, string][]): Promise<ResourceSubject> {
  const { publicId } = await makeReadyAgent(app);
  for (const [kind, id] of links) {
    const api = LINK_APIS.find((one) => one.kind === kind);
    if (!api) throw new Error(kind);
    await link(app, publicId, api, id);
  }
  await publish(app, publicId);
  return subjectOf(app, publicId);
}

/** A handle on the same database that counts its statements; `before` is awaited ahead of each result. */
export function counted(
  db: Kysely<DB>,
  before: () => Promise<void> = async () => {},
): { db: Kysely<DB>; statements: () => number } {
  let statements = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => {
      await before();
      return result;
    },
  };
  return { db: db.withPlugin(plugin), statements: () => statements };
}
