import { createHash } from 'node:crypto';
import type { Kysely, Selectable, Transaction, Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { linksOf } from '../../db/queries/agents/agentLinks.ts';
import { type AgentRow, findAgent, lockAgent, updateAgentRow } from '../../db/queries/agents/agents.ts';
import { listVariables } from '../../db/queries/agents/agentVariables.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Agents, DB } from '../../generated/db.ts';
import type { Snapshot } from '../../runtime/resources/snapshot.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type AgentConfig, CONFIG_COLUMNS, CONFIG_FIELDS, type ConfigField, configOf } from './config.ts';
import { linkSets } from './linkSets.ts';
import { checkFeatures, checkModelSettings, type FieldPlace } from './rules.ts';
import { variableBody } from './variableBody.ts';

/** A change of the editable state under way: the agent is locked, and everything is one transaction. */
export interface DraftChange {
  trx: Transaction<DB>;
  agent: Selectable<Agents>;
  workspaceId: string;
  now: Date;
}

/** What a draft change asks of the run-time: models, by their ids. */
export type ModelNames = Pick<Runtime, 'findModel' | 'findGlobalModel'>;

/** What a draft change needs of a request. */
export interface DraftContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: ModelNames;
  clock: { now(): Date };
}

/**
 * Freezes the editable state as it is now. The same function tells a version's content and, by its digest, whether
 * anything differs from the published one.
 */
async function snapshotOf(
  trx: Kysely<DB>,
  workspaceId: string,
  agent: Selectable<Agents>,
  runtime: ModelNames,
): Promise<Snapshot> {
  const variables = await listVariables(trx, workspaceId, agent.id);
  const links = await linksOf(trx, workspaceId, agent.id);
  const model = agent.ai_model_id === null ? undefined : await runtime.findModel(trx, workspaceId, agent.ai_model_id);
  return {
    ...configOf(agent),
    aiModelName: model?.name ?? null,
    variablesSnapshot: Object.fromEntries(variables.map((row) => [row.name, variableBody(row)])),
    ...linkSets(links, runtime),
  };
}

/** Whose names are shown and may change without a change of the agent. */
const NAMES = new Set([
  'aiModelName',
  'toolName',
  'toolType',
  'knowledgeSourceName',
  'skillName',
  'subAgentName',
  'serverName',
  'connectionName',
]);
/** Sets without an order of their own: a link that is taken out and made again leaves the state as it was. */
const UNORDERED = ['httpTools', 'knowledgeSources', 'skills', 'externalMcps', 'nativeMcps'] as const;

/**
 * A short name for a state: equal states have equal digests. When something was last touched does not count, nor what linked
 * things are called.
 */
function digestOf(snapshot: Snapshot): string {
  const { variablesSnapshot, ...rest } = snapshot;
  const variables = Object.values(variablesSnapshot).map(
    ({ createdAt: _created, updatedAt: _updated, ...variable }) => variable,
  );
  const sets = UNORDERED.map((name) => {
    const links: object[] = snapshot[name] ?? [];
    return [name, links.map((link) => JSON.stringify(link, withoutNames)).sort()];
  });
  return createHash('sha256')
    .update(JSON.stringify([{ ...rest, ...Object.fromEntries(sets) }, variables], withoutNames))
    .digest('base64url');
}

function withoutNames(key: string, value: unknown): unknown {
  return NAMES.has(key) ? undefined : value;
}

/** Writes the digest of the editable state. With `asPublished` the state is also what counts as published from now on. */
export async function sealDraft(
  { trx, workspaceId, now }: Omit<DraftChange, 'agent'>,
  agentId: string,
  runtime: ModelNames,
  change: Updateable<Agents> & { asPublished?: boolean } = {},
): Promise<Snapshot> {
  const { asPublished, ...columns } = change;
  if (Object.keys(columns).length > 0) await updateAgentRow(trx, workspaceId, agentId, columns);
  const agent = await lockAgent(trx, workspaceId, agentId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  const snapshot = await snapshotOf(trx, workspaceId, agent, runtime);
  const digest = digestOf(snapshot);
  await updateAgentRow(trx, workspaceId, agentId, {
    draft_digest: digest,
    updated_at: now,
    ...(asPublished ? { published_digest: digest } : {}),
  });
  return snapshot;
}

/**
 * Runs one change of an agent's editable state in a transaction that holds the agent, then brings the digest up to
 * date. `change` may run again when another transaction was in its way, so it has no other effects. `before` runs ahead of
 * holding the agent, for locks that come first. Answers with what the change answers. Throws AGENT_NOT_FOUND.
 */
export async function changeDraft<T>(
  { db, workspaceId, runtime, clock }: DraftContext,
  agentId: string,
  change: (draft: DraftChange) => Promise<T>,
  before?: (trx: Transaction<DB>) => Promise<void>,
): Promise<T> {
  return inTransaction(db, async (trx) => {
    await before?.(trx);
    const agent = await lockAgent(trx, workspaceId, agentId);
    if (!agent) throw fault('AGENT_NOT_FOUND');
    const draft = { trx, agent, workspaceId, now: clock.now() };
    const result = await change(draft);
    await sealDraft(draft, agentId, runtime);
    return result;
  });
}

/** Fields that the model must be able to do; others change without looking at the model. */
const MODEL_FIELDS = ['aiModelPublicId', 'temperature', 'thinkingEnabled'] as const;

/** New values of editable fields: absent = unchanged, null = cleared or, for a toggle, off. */
export type ConfigChange = { [Field in ConfigField]?: AgentConfig[Field] | null };

function columnsOf(
  agent: Selectable<Agents>,
  change: ConfigChange,
): { columns: Updateable<Agents>; config: AgentConfig } {
  const config: Record<string, unknown> = { ...configOf(agent) };
  const columns: Record<string, unknown> = {};
  for (const field of CONFIG_FIELDS) {
    const given = change[field];
    if (given === undefined) continue;
    const value = given === null && typeof config[field] === 'boolean' ? false : given;
    config[field] = value;
    columns[CONFIG_COLUMNS[field]] = value;
  }
  return { columns, config: config as AgentConfig };
}

/**
 * The one way to change an agent's editable fields, whichever operation asks for it. A `change` that depends on the fields
 * as they are is a function of them, called once nobody else can change them. `metadata` are columns outside the
 * editable state (name, description, …), `placeOf` is for a request that calls the fields otherwise than an agent does.
 * Answers with the agent as it is then. Throws AGENT_NOT_FOUND, AI_MODEL_NOT_FOUND, AGENT_NAME_TAKEN,
 * TEMPERATURE_NOT_SUPPORTED, THINKING_NOT_SUPPORTED, FEATURE_VALIDATION_ERROR.
 */
export async function changeConfig(
  context: DraftContext,
  agentId: string,
  change: ConfigChange | ((present: AgentConfig) => ConfigChange),
  { metadata = {}, placeOf }: { metadata?: Updateable<Agents>; placeOf?: FieldPlace } = {},
): Promise<AgentRow> {
  const { db, workspaceId, runtime } = context;
  const given =
    typeof change === 'function' || Object.values({ ...change, ...metadata }).some((value) => value !== undefined);
  if (given) {
    await changeDraft(context, agentId, async ({ trx, agent }) => {
      const wanted = typeof change === 'function' ? change(configOf(agent)) : change;
      const { columns, config } = columnsOf(agent, wanted);
      if (MODEL_FIELDS.some((field) => wanted[field] !== undefined) && config.aiModelPublicId !== null) {
        const model = await runtime.findModel(trx, workspaceId, config.aiModelPublicId);
        if (wanted.aiModelPublicId && !model) throw fault('AI_MODEL_NOT_FOUND');
        if (model) checkModelSettings(config, model);
      }
      checkFeatures(config, placeOf);
      const all = { ...columns, ...metadata };
      if (Object.keys(all).length > 0) await updateAgentRow(trx, workspaceId, agentId, all);
    });
  }
  const row = await findAgent(db, workspaceId, agentId);
  if (!row) throw fault('AGENT_NOT_FOUND');
  return row;
}
