import type { Kysely } from 'kysely';
import type { AgentRow } from '../../db/queries/agents/agents.ts';
import { selectVariables } from '../../db/queries/agents/agentVariables.ts';
import type { components } from '../../generated/api.ts';
import type { DB } from '../../generated/db.ts';
import { variableBody } from '../agent-variables/variableBody.ts';

/** The prompt of an agent as the contract shows it. */
export async function promptBody(db: Kysely<DB>, agent: AgentRow): Promise<components['schemas']['AgentPrompt']> {
  const variables = await selectVariables(db, agent.workspace_id, agent.id);
  return {
    systemPrompt: agent.system_prompt,
    dynamicPromptEnabled: agent.dynamic_prompt_enabled,
    variables: variables.map(variableBody),
  };
}
