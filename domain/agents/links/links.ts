import type { Transaction } from 'kysely';
import { type ErrorCode, fault } from '../../../core/errors.ts';
import {
  findAgentsLinkedTo,
  findTargets,
  insertLinks,
  type LinkedRow,
  type LinkKind,
  type LinkSettings,
  lockTargets,
  removeLink,
  removeLinksTo,
  selectLinks,
  updateLinkRow,
} from '../../../db/queries/agents/agentLinks.ts';
import { type AgentRow, findAgent, lockAgent } from '../../../db/queries/agents/agents.ts';
import { lockSubAgentLinks } from '../../../db/queries/agents/subAgents.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { DB } from '../../../generated/db.ts';
import { changeDraft, type DraftChange, type DraftContext, storeDigest } from '../draft/draft.ts';

/** The error code of a missing target. */
const NOT_FOUND: Readonly<Record<LinkKind, ErrorCode>> = {
  skill: 'SKILL_NOT_FOUND',
  knowledge_source: 'KNOWLEDGE_SOURCE_NOT_FOUND',
  http_tool: 'HTTP_TOOL_NOT_FOUND',
  external_mcp: 'EXTERNAL_MCP_NOT_FOUND',
  native_mcp: 'NATIVE_MCP_CONNECTION_NOT_FOUND',
  sub_agent: 'SUB_AGENT_NOT_FOUND',
};

/** Kinds whose operations have different codes for a target that is not linked and for one that does not exist. */
const TOLD_APART: ReadonlySet<LinkKind> = new Set(['external_mcp', 'sub_agent']);

/** Kinds that an archived agent, which has no draft, may still be linked to: their operations have no NO_DRAFT_VERSION. */
const WITHOUT_DRAFT: ReadonlySet<LinkKind> = new Set(['native_mcp']);

/**
 * The lock that comes before all others: a change of sub-agents holds two agents, so two of them could wait for each other, or
 * close a cycle together.
 */
async function lockKind(trx: Transaction<DB>, workspaceId: string, kind: LinkKind): Promise<void> {
  if (kind === 'sub_agent') await lockSubAgentLinks(trx, workspaceId);
}

function checkDraft(kind: LinkKind, agent: { draft_version_number: number | null }): void {
  if (agent.draft_version_number === null && !WITHOUT_DRAFT.has(kind)) throw fault('NO_DRAFT_VERSION');
}

/** The agent, whose draft can be read or changed. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export async function draftAgent(
  { db, workspaceId }: Pick<DraftContext, 'db' | 'workspaceId'>,
  agentId: string,
  kind: LinkKind,
): Promise<AgentRow> {
  const agent = await findAgent(db, workspaceId, agentId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  checkDraft(kind, agent);
  return agent;
}

/** The links of a kind, last linked first. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export async function listLinks(
  context: Pick<DraftContext, 'db' | 'workspaceId'>,
  agentId: string,
  kind: LinkKind,
): Promise<LinkedRow[]> {
  await draftAgent(context, agentId, kind);
  return (await selectLinks(context.db, context.workspaceId, agentId, kind)).reverse();
}

/**
 * Links a target to the draft. `prepare` runs inside the change with the target locked, so that what it finds stays so; it
 * returns the settings of the link, and throws when the link is not allowed. Ids may be written in either case. Throws
 * AGENT_NOT_FOUND, NO_DRAFT_VERSION, the kind's not-found code, ALREADY_LINKED.
 */
export async function linkTarget(
  context: DraftContext,
  agentId: string,
  kind: LinkKind,
  writtenId: string,
  prepare: (draft: DraftChange) => Promise<LinkSettings> = async () => ({}),
): Promise<LinkedRow> {
  const { workspaceId } = context;
  const targetId = writtenId.toLowerCase();
  const link = async (draft: DraftChange) => {
    checkDraft(kind, draft.agent);
    const { trx, now } = draft;
    if (!(await lockTargets(trx, workspaceId, kind, [targetId])).has(targetId)) throw fault(NOT_FOUND[kind]);
    const settings = await prepare(draft);
    const row = { workspace_id: workspaceId, agent_id: agentId, kind, target_id: targetId };
    // A second link of the two violates agent_links_key, which is ALREADY_LINKED (db/errors.ts).
    await insertLinks(trx, [{ ...row, ...settings, created_at: now }]);
  };
  const { links } = await changeDraft(context, agentId, link, (trx) => lockKind(trx, workspaceId, kind));
  return linkTo(links, kind, targetId);
}

/**
 * Links what is not linked yet and leaves present links as they are. Returns the targets that are linked now; the
 * others do not exist. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION.
 */
export async function linkTargets(
  context: DraftContext,
  agentId: string,
  kind: LinkKind,
  writtenIds: readonly string[],
): Promise<Set<string>> {
  const { workspaceId } = context;
  const targetIds = [...new Set(writtenIds.map((id) => id.toLowerCase()))];
  const { result } = await changeDraft(context, agentId, async (draft) => {
    checkDraft(kind, draft.agent);
    const { trx, now } = draft;
    const present = await lockTargets(trx, workspaceId, kind, targetIds);
    const linked = new Set((await selectLinks(trx, workspaceId, agentId, kind)).map(({ target_id }) => target_id));
    const fresh = targetIds.filter((id) => present.has(id) && !linked.has(id));
    await insertLinks(
      trx,
      fresh.map((id) => ({ workspace_id: workspaceId, agent_id: agentId, kind, target_id: id, created_at: now })),
    );
    return present;
  });
  return result;
}

/**
 * Changes a link of the draft; `newSettings` runs inside the change. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION, NOT_LINKED, and for
 * the kinds that tell it apart the not-found code.
 */
export async function changeLink(
  context: DraftContext,
  agentId: string,
  kind: LinkKind,
  targetId: string,
  newSettings: (draft: DraftChange) => Promise<LinkSettings>,
): Promise<LinkedRow> {
  const { links } = await changeDraft(context, agentId, async (draft) => {
    checkDraft(kind, draft.agent);
    const { trx, workspaceId } = draft;
    const settings = await newSettings(draft);
    const exists =
      Object.keys(settings).length > 0
        ? await updateLinkRow(trx, workspaceId, agentId, kind, targetId, settings)
        : (await selectLinks(trx, workspaceId, agentId, kind)).some((link) => isTo(link, kind, targetId));
    if (!exists) throw await notLinkedFault(draft, kind, targetId);
  });
  return linkTo(links, kind, targetId);
}

/** Removes a link from the draft. Throws as `changeLink` does. */
export async function unlinkTarget(
  context: DraftContext,
  agentId: string,
  kind: LinkKind,
  targetId: string,
): Promise<void> {
  await changeDraft(context, agentId, async (draft) => {
    checkDraft(kind, draft.agent);
    const { trx, workspaceId } = draft;
    if (!(await removeLink(trx, workspaceId, agentId, kind, targetId)))
      throw await notLinkedFault(draft, kind, targetId);
  });
}

function isTo(link: LinkedRow, kind: LinkKind, targetId: string): boolean {
  return link.kind === kind && link.target_id === targetId.toLowerCase();
}

function linkTo(links: readonly LinkedRow[], kind: LinkKind, targetId: string): LinkedRow {
  const link = links.find((each) => isTo(each, kind, targetId));
  if (!link) throw new Error(`The link to ${kind} ${targetId} is not among the links of the draft`);
  return link;
}

async function notLinkedFault({ trx, workspaceId }: DraftChange, kind: LinkKind, targetId: string) {
  // The operations of native_mcp have one code for both.
  if (kind === 'native_mcp') return fault(NOT_FOUND[kind]);
  const exists = !TOLD_APART.has(kind) || (await findTargets(trx, workspaceId, kind, [targetId])).size > 0;
  return fault(exists ? 'NOT_LINKED' : NOT_FOUND[kind]);
}

/**
 * Deletes something that agents are linked to: `remove` deletes it and returns whether it existed, and its links leave every
 * draft with it, all in one transaction. Returns whether it existed.
 */
export function deleteTarget(
  { db, workspaceId, clock }: DraftContext,
  kind: LinkKind,
  targetId: string,
  remove: (change: Omit<DraftChange, 'agent'>) => Promise<boolean>,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const change = { trx, workspaceId, now: clock.now() };
    await lockKind(trx, workspaceId, kind);
    // Agents first, then the target, as linking does: the other order would make the two wait for each other.
    for (const agentId of await findAgentsLinkedTo(trx, workspaceId, kind, targetId))
      await lockAgent(trx, workspaceId, agentId);
    if (!(await remove(change))) return false;
    for (const agentId of await removeLinksTo(trx, workspaceId, kind, targetId)) {
      // A deleted agent has no digest to bring up to date.
      const agent = await lockAgent(trx, workspaceId, agentId);
      if (agent) await storeDigest({ ...change, agent });
    }
    return true;
  });
}
