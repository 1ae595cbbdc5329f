import type { Insertable } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { StoredVariable } from '../../../db/stored/agentSnapshot.ts';
import type { StoredVariableOption } from '../../../db/stored/agentVariable.ts';
import type { AgentVariables } from '../../../generated/db.ts';
import { checkDefinition } from '../../../runtime/variables/variables.ts';

/** What a variable is, apart from its ids and times. The default is still to be checked. */
export type Definition = Omit<StoredVariable, 'publicId' | 'createdAt' | 'updatedAt' | 'defaultValue'> & {
  defaultValue: unknown;
};

/** An option as a request has it. */
export type NewOption = Pick<StoredVariableOption, 'label' | 'injectedText'> & { sortOrder?: number | null };

/** How a definition is stored. */
export type DefinitionColumns = Omit<
  Insertable<AgentVariables>,
  'workspace_id' | 'id' | 'agent_id' | 'created_at' | 'updated_at'
>;

const DEFAULT_SEPARATOR = ', ';

/** Whether variables of this type have options. */
export function hasOptions(type: StoredVariable['type']): boolean {
  return type === 'single_choice' || type === 'multi_choice';
}

/** New options, in their order: by `sortOrder`, which is the place in the list when it is left out. */
export function newOptions(given: readonly NewOption[]): StoredVariableOption[] {
  const options = given.map(({ label, injectedText, sortOrder }, place) => ({
    publicId: newId(),
    label,
    injectedText,
    sortOrder: sortOrder ?? place,
  }));
  return options.sort((a, b) => a.sortOrder - b.sortOrder);
}

/**
 * Checks a definition and returns the columns that store it. Fields that only other types have are not stored.
 * Throws VARIABLE_OPTIONS_INVALID, VARIABLE_DEFAULT_INVALID.
 */
export function checkedColumns(definition: Definition): DefinitionColumns {
  checkDefinition(definition);
  return columnsOf(definition);
}

/** The columns that store a definition that was checked before, such as a published one. */
export function columnsOf(definition: Definition): DefinitionColumns {
  const { type, defaultValue } = definition;
  const isBool = type === 'bool';
  const separator = definition.multiChoiceSeparator ?? DEFAULT_SEPARATOR;
  return {
    name: definition.name,
    label: definition.label,
    description: definition.description,
    type,
    required: definition.required,
    // jsonb takes JSON text: without it the driver would send a list as a PostgreSQL array and a string as broken JSON.
    default_value: defaultValue === null || defaultValue === undefined ? null : JSON.stringify(defaultValue),
    options: hasOptions(type) ? JSON.stringify(definition.options) : null,
    multi_choice_separator: type === 'multi_choice' ? separator : null,
    boolean_text_when_true: isBool ? definition.booleanTextWhenTrue : null,
    boolean_text_when_false: isBool ? definition.booleanTextWhenFalse : null,
    sort_order: definition.sortOrder,
  };
}
