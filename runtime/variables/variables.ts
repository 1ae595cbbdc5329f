import { type ApiError, type ErrorCode, type ErrorDetail, fault, invalid } from '../../core/errors.ts';
import { renderValue, type VariableDefinition, valueProblem } from './variableValues.ts';

export type { VariableDefinition, VariableOption, VariableType } from './variableValues.ts';

const MAX_OPTIONS = 50;
/** Characters. A prompt can repeat a long value 40,000 times: without a maximum a small request makes a text of 400 MB. */
const MAX_RENDERED = 1_000_000;
/** Letters, digits and underscore as in the contract's pattern of names; anything else between braces is plain text. */
const REFERENCE = /\{\{[ \t]*([a-z][a-z0-9_]{0,49})[ \t]*\}\}/g;

/**
 * Checks a definition as it is about to be stored: options where and only where the type has a choice (1 to 50, labels
 * distinct), and a default that would do as a value. A default of a choice names options by label, or by `publicId` where they have one.
 * @throws VARIABLE_OPTIONS_INVALID, VARIABLE_DEFAULT_INVALID (422)
 */
export function checkDefinition(definition: VariableDefinition): void {
  const options = definition.options ?? [];
  const refuse = (code: ErrorCode, message: string) => {
    throw fault(code, `Variable ${definition.name}: ${message}`);
  };
  if (definition.type === 'single_choice' || definition.type === 'multi_choice') {
    if (options.length === 0 || options.length > MAX_OPTIONS) {
      refuse('VARIABLE_OPTIONS_INVALID', `type ${definition.type} needs 1 to ${MAX_OPTIONS} options.`);
    }
    const labels = new Set<string>();
    for (const { label } of options) {
      if (labels.has(label)) refuse('VARIABLE_OPTIONS_INVALID', `two options have the label ${JSON.stringify(label)}.`);
      labels.add(label);
    }
  } else if (options.length > 0) {
    refuse('VARIABLE_OPTIONS_INVALID', `type ${definition.type} takes no options.`);
  }
  if (definition.defaultValue !== null && definition.defaultValue !== undefined) {
    const problem = valueProblem(definition, definition.defaultValue);
    if (problem !== null) refuse('VARIABLE_DEFAULT_INVALID', `the default ${problem}.`);
  }
}

/** The names that a prompt refers to as `{{name}}`; spaces and tabs inside the braces do not matter. */
export function referencedNames(prompt: string): Set<string> {
  const names = new Set<string>();
  for (const [, name = ''] of prompt.matchAll(REFERENCE)) names.add(name);
  return names;
}

/** The prompt without any `{{name}}`. The text around it stays as it is. */
export function removeReferences(prompt: string, name: string): string {
  return prompt.replace(REFERENCE, (reference, found: string) => (found === name ? '' : reference));
}

function invalidValues(message: string, keyword: string): ApiError {
  return invalid('/body/metadata/variables', message, keyword);
}

function givenValues(values: unknown): Record<string, unknown> {
  if (values === undefined || values === null) return {};
  if (typeof values === 'object' && !Array.isArray(values)) return values as Record<string, unknown>;
  throw invalidValues('must be an object of variable names and values', 'type');
}

/**
 * Puts values into a prompt. `values` is `metadata.variables` of the conversation: an object by variable name, or nothing.
 *
 * - A value that is absent or null falls back to the default; an optional variable with neither is rendered as ''.
 * - A required variable counts as set only by something to show: '' and [] fall back to the default too. Only required variables
 *   that the prompt refers to are demanded: one that was taken out of the prompt must not block the agent.
 * - Values for names without a definition are ignored. References to such names get the value of `builtIns`, if it has one, or else stay in
 *   the text as they are.
 * - One pass: braces inside a value are text.
 * - The result has at most 1,000,000 characters.
 * @throws VALIDATION_ERROR (400) with one detail per value of the wrong type, MISSING_VARIABLE (422) naming all that lack a value
 */
export function renderPrompt(
  prompt: string,
  definitions: readonly VariableDefinition[],
  values: unknown,
  builtIns: Readonly<Record<string, string>> = {},
): { text: string } {
  const given = givenValues(values);
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));

  const problems: ErrorDetail[] = [];
  for (const [name, definition] of byName) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    const problem = value === null || value === undefined ? null : valueProblem(definition, value);
    if (problem !== null)
      problems.push({ path: `/body/metadata/variables/${name}`, message: problem, keyword: 'type' });
  }
  if (problems.length > 0) throw fault('VALIDATION_ERROR', undefined, { details: problems });

  const rendered = new Map<string, string>();
  const missing: string[] = [];
  for (const name of referencedNames(prompt)) {
    const definition = byName.get(name);
    if (definition === undefined) {
      if (Object.hasOwn(builtIns, name)) rendered.set(name, builtIns[name] ?? '');
      continue;
    }
    const candidates = [Object.hasOwn(given, name) ? given[name] : null, definition.defaultValue];
    const value = candidates.find((candidate, index) => isSet(definition, candidate, index === 1));
    if (value !== undefined) rendered.set(name, renderValue(definition, value));
    else if (definition.required) missing.push(name);
    else rendered.set(name, '');
  }
  if (missing.length > 0) {
    const names = missing.join(', ');
    throw fault('MISSING_VARIABLE', `The prompt needs a value for ${names}. Send it in metadata.variables.`);
  }
  let length = prompt.length;
  const text = prompt.replace(REFERENCE, (reference, name: string) => {
    const value = rendered.get(name) ?? reference;
    length += value.length - reference.length;
    if (length > MAX_RENDERED) {
      throw invalidValues(`must not make the prompt longer than ${MAX_RENDERED} characters`, 'maxLength');
    }
    return value;
  });
  return { text };
}

function isSet(definition: VariableDefinition, value: unknown, isDefault: boolean): boolean {
  if (value === null || value === undefined) return false;
  if (definition.required && (value === '' || (Array.isArray(value) && value.length === 0))) return false;
  // Values were checked above; a stored default can have lost its option since.
  return !isDefault || valueProblem(definition, value) === null;
}
