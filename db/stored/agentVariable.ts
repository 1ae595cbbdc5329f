/** The JSON of agent_variables.default_value, in the form that the variable's type demands; a list names options of a multi_choice. */
export type StoredDefaultValue = string | number | boolean | string[];

/** One item of the JSON list in agent_variables.options. */
export interface StoredVariableOption {
  publicId: string;
  label: string;
  injectedText: string;
  sortOrder: number;
}
