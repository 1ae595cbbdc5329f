import type { Selectable, Updateable } from 'kysely';
import { fault } from '../../../core/errors.ts';
import { type AgentRow, findAgent, updateAgentRow } from '../../../db/queries/agents/agents.ts';
import type { AgentConfig } from '../../../db/stored/agentSnapshot.ts';
import type { Agents } from '../../../generated/db.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { changeColumns, changeDraft, type DraftContext } from '../draft/draft.ts';
import { CONFIG_COLUMNS, CONFIG_FIELDS, type ConfigField, configOf } from './config.ts';
import { checkFeatures, checkModelSettings, type FieldPlace } from './rules.ts';

/** What a change of an agent's own fields needs: models are looked up by their ids. */
export type ConfigContext = DraftContext & { runtime: Pick<Runtime, 'findModel'> };

/** New values of editable fields: absent = unchanged, null = cleared or, for a toggle, off. */
export type ConfigChange = { [Field in keyof AgentConfig]?: AgentConfig[Field] | null };

/** Columns of an agent outside its editable state. */
export type AgentMetadata = Pick<Updateable<Agents>, 'name' | 'description' | 'avatar_url' | 'categories'>;

/** Fields that the model must support; the other fields change without a look at the model. */
const MODEL_FIELDS = ['aiModelPublicId', 'temperature', 'thinkingEnabled'] as const;

function columnsOf(
  agent: Selectable<Agents>,
  change: ConfigChange,
): { columns: Updateable<Agents>; config: AgentConfig } {
  const config: Record<string, unknown> = { ...configOf(agent) };
  const columns: Record<string, unknown> = {};
  for (const field of CONFIG_FIELDS) {
    const given = change[field];
    if (given === undefined) continue;
    const value = storedValue(field, given === null && typeof config[field] === 'boolean' ? false : given);
    config[field] = value;
    columns[CONFIG_COLUMNS[field]] = value;
  }
  return { columns, config: config as unknown as AgentConfig };
}

/** The value as it is stored: a time of day has seconds, also when the request leaves them out. */
function storedValue(field: ConfigField, value: unknown): unknown {
  const isTime = field === 'followUpBusinessHoursStart' || field === 'followUpBusinessHoursEnd';
  return isTime && typeof value === 'string' && value.length === 'HH:MM'.length ? `${value}:00` : value;
}

/** The categories of a request: equal ones count once. */
export function distinctCategories(categories: readonly string[] | null | undefined): string[] {
  return [...new Set(categories)];
}

function hasValues(change: object): boolean {
  return Object.values(change).some((value) => value !== undefined);
}

/**
 * The one way to change an agent's own fields, for every operation. A `change` that depends on the present fields is a function
 * of them, called when nobody else can change them. `metadata` changes along with it. `placeOf` is for a request that names the
 * fields in another way than an agent does. Returns the agent after the change. Throws AGENT_NOT_FOUND, AI_MODEL_NOT_FOUND,
 * AGENT_NAME_TAKEN, TEMPERATURE_NOT_SUPPORTED, THINKING_NOT_SUPPORTED, FEATURE_VALIDATION_ERROR.
 */
export async function changeConfig(
  context: ConfigContext,
  agentId: string,
  change: ConfigChange | ((present: AgentConfig) => ConfigChange),
  { metadata = {}, placeOf }: { metadata?: AgentMetadata; placeOf?: FieldPlace } = {},
): Promise<AgentRow> {
  if (typeof change !== 'function' && !hasValues(change)) return changeMetadata(context, agentId, metadata);
  const { workspaceId, runtime } = context;
  const { agent } = await changeDraft(context, agentId, async (draft) => {
    const wanted = typeof change === 'function' ? change(configOf(draft.agent)) : change;
    const { columns, config } = columnsOf(draft.agent, wanted);
    if (MODEL_FIELDS.some((field) => wanted[field] !== undefined) && config.aiModelPublicId !== null) {
      const model = await runtime.findModel(draft.trx, workspaceId, config.aiModelPublicId);
      if (wanted.aiModelPublicId && !model) throw fault('AI_MODEL_NOT_FOUND');
      if (model) checkModelSettings(config, model);
    }
    checkFeatures(config, placeOf);
    const all = { ...columns, ...metadata };
    if (Object.keys(all).length > 0) await changeColumns(draft, all);
  });
  return agent;
}

/** Metadata is no part of the editable state: no digest changes, and one statement does it. */
async function changeMetadata(
  { db, workspaceId, clock }: DraftContext,
  agentId: string,
  metadata: AgentMetadata,
): Promise<AgentRow> {
  const agent = hasValues(metadata)
    ? await updateAgentRow(db, workspaceId, agentId, { ...metadata, updated_at: clock.now() })
    : await findAgent(db, workspaceId, agentId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return agent;
}
