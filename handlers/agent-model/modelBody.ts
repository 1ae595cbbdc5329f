import type { Kysely } from 'kysely';
import type { AgentRow } from '../../db/queries/agents/agents.ts';
import type { components } from '../../generated/api.ts';
import type { DB } from '../../generated/db.ts';
import type { ModelDescriptor } from '../../runtime/models/catalogue.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { agentBody } from '../agents/agentBody.ts';

/** What a model is able to do, as the contract shows it. */
export function capabilitiesOf(model: ModelDescriptor): components['schemas']['ModelCapabilities'] {
  const { contextWindow, supportsTemperature, supportsThinking, supportsImage, supportsDocument } = model;
  return {
    contextWindow,
    supportsTemperature,
    minTemperature: supportsTemperature ? model.minTemperature : null,
    maxTemperature: supportsTemperature ? model.maxTemperature : null,
    supportsThinking,
    supportsImage,
    supportsDocument,
  };
}

/** The model selection of an agent as the contract shows it; a model that has been removed has a name at most. */
export async function agentModelBody(
  db: Kysely<DB>,
  agent: AgentRow,
  runtime: Runtime,
): Promise<components['schemas']['AgentModel']> {
  const { aiModelPublicId, aiModelName, temperature, thinkingEnabled, thinkingEffort } = agentBody(agent, runtime);
  const model = aiModelPublicId === null ? undefined : await runtime.findModel(db, agent.workspace_id, aiModelPublicId);
  return {
    aiModelPublicId,
    aiModelName,
    provider: model?.provider ?? null,
    modelId: model?.modelId ?? null,
    temperature,
    thinkingEnabled,
    thinkingEffort,
    capabilities: model ? capabilitiesOf(model) : null,
  };
}
