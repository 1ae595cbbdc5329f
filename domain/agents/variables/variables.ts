import { fault } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import {
  findVariable,
  insertVariable,
  removeVariable,
  updateVariableRow,
  type VariableRow,
} from '../../../db/queries/agents/agentVariables.ts';
import { forgetVariableValues } from '../../../db/queries/conversations/conversations.ts';
import { removeReferences } from '../../../runtime/variables/variables.ts';
import { changeColumns, changeDraft, type DraftContext } from '../draft/draft.ts';
import { storedVariable } from '../draft/storedVariable.ts';
import { checkedColumns, type Definition, hasOptions, type NewOption, newOptions } from './variableDefinition.ts';

/** A new variable; absent and null = empty, not required, at position 0. */
export type NewVariable = Pick<Definition, 'name' | 'label' | 'type'> &
  Partial<Omit<Definition, 'options'>> & { options?: NewOption[] | null };

/** New values of a variable; absent = unchanged. */
export type VariableChange = Partial<Omit<Definition, 'options'>> & { options?: NewOption[] | null };

/**
 * Adds a variable to the draft. Throws AGENT_NOT_FOUND, VARIABLE_OPTIONS_INVALID, VARIABLE_DEFAULT_INVALID, and VARIABLE_NAME_TAKEN by
 * agent_variables_name_key (db/errors.ts).
 */
export async function addVariable(context: DraftContext, agentId: string, variable: NewVariable): Promise<VariableRow> {
  const definition = {
    ...variable,
    description: variable.description ?? null,
    required: variable.required ?? false,
    sortOrder: variable.sortOrder ?? 0,
    defaultValue: variable.defaultValue ?? null,
    options: newOptions(variable.options ?? []),
    multiChoiceSeparator: variable.multiChoiceSeparator ?? null,
    booleanTextWhenTrue: variable.booleanTextWhenTrue ?? null,
    booleanTextWhenFalse: variable.booleanTextWhenFalse ?? null,
  };
  const { result } = await changeDraft(context, agentId, ({ trx, agent, workspaceId, now }) =>
    insertVariable(trx, {
      workspace_id: workspaceId,
      id: newId(),
      agent_id: agent.id,
      ...checkedColumns(definition),
      created_at: now,
      updated_at: now,
    }),
  );
  return result;
}

/** The definition after the change. Options stay where the new type has some too; a type without any drops them. */
function changed(present: Definition, { options, ...change }: VariableChange): Definition {
  const next = { ...present, ...change };
  const presentOptions = hasOptions(next.type) ? present.options : null;
  return { ...next, options: options === undefined ? presentOptions : newOptions(options ?? []) };
}

/** Changes a variable of the draft. Throws VARIABLE_NOT_FOUND, and as `addVariable` does. */
export async function changeVariable(
  context: DraftContext,
  agentId: string,
  variableId: string,
  change: VariableChange,
): Promise<VariableRow> {
  const { result } = await changeDraft(context, agentId, async ({ trx, agent, workspaceId, now }) => {
    const present = await findVariable(trx, workspaceId, agent.id, variableId);
    if (!present) throw fault('VARIABLE_NOT_FOUND');
    const columns = checkedColumns(changed(storedVariable(present), change));
    return updateVariableRow(trx, workspaceId, present.id, { ...columns, updated_at: now });
  });
  return result;
}

/**
 * Removes the references to a variable from the prompt, and leaves its definition. Throws AGENT_NOT_FOUND, VARIABLE_NOT_FOUND.
 */
export async function detachVariable(context: DraftContext, agentId: string, variableId: string): Promise<void> {
  await changeDraft(context, agentId, async (draft) => {
    const variable = await findVariable(draft.trx, draft.workspaceId, agentId, variableId);
    if (!variable) throw fault('VARIABLE_NOT_FOUND');
    const prompt = draft.agent.system_prompt;
    if (prompt !== null) await changeColumns(draft, { system_prompt: removeReferences(prompt, variable.name) });
  });
}

/**
 * Removes a variable for good, with its values in all conversations of the agent. It cannot be undone, so whoever asks must have
 * confirmed it. Throws AGENT_NOT_FOUND, VARIABLE_NOT_FOUND, CONFIRMATION_REQUIRED.
 */
export async function purgeVariable(
  context: DraftContext,
  agentId: string,
  variableId: string,
  { confirmed }: { confirmed: boolean },
): Promise<void> {
  await changeDraft(context, agentId, async ({ trx, workspaceId, agent }) => {
    const variable = await findVariable(trx, workspaceId, agent.id, variableId);
    if (!variable) throw fault('VARIABLE_NOT_FOUND');
    if (!confirmed) {
      throw fault('CONFIRMATION_REQUIRED', 'Purging a variable cannot be undone. Send confirmation=DELETE to do it.');
    }
    await removeVariable(trx, workspaceId, variable.id);
    await forgetVariableValues(trx, workspaceId, agent.id, variable.name);
  });
}
