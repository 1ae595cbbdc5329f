import type { VariableRow } from '../../../db/queries/agents/agentVariables.ts';
import type { StoredVariable } from '../../../db/stored/agentSnapshot.ts';

/** A variable as a version stores it. */
export function storedVariable(row: VariableRow): StoredVariable {
  return {
    publicId: row.id,
    name: row.name,
    label: row.label,
    description: row.description,
    type: row.type,
    required: row.required,
    defaultValue: row.default_value,
    options: row.options,
    multiChoiceSeparator: row.multi_choice_separator,
    booleanTextWhenTrue: row.boolean_text_when_true,
    booleanTextWhenFalse: row.boolean_text_when_false,
    sortOrder: row.sort_order,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
