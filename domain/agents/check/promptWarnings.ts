import type { Snapshot } from '../../../runtime/resources/snapshot.ts';
import { referencedNames } from '../../../runtime/variables/variables.ts';
import type { AgentWarning } from './warning.ts';

/**
 * What stands between double braces on one line, whether or not it can be the name of a variable. Not what is meant as text: behind a
 * backslash, blank, or beginning with a quotation mark, as examples of JSON do.
 */
const BRACES = /(?<!\\)\{\{[ \t]*([^\s{}"'][^{}\n]{0,59}?)[ \t]*\}\}/g;
/** So many names are told; a prompt that explains templates may have hundreds. */
const MAX_NAMES = 20;

type PromptParts = Pick<Snapshot, 'systemPrompt' | 'dynamicPromptEnabled' | 'variables'>;

function inBraces(names: readonly string[]): string {
  const told = names.slice(0, MAX_NAMES).map((name) => `{{${name}}}`);
  const more = names.length - told.length;
  return told.join(', ') + (more > 0 ? ` and ${more} more such names` : '');
}

/** References of the prompt that nothing fills in: the model reads the braces. */
export function promptWarnings(
  { systemPrompt, dynamicPromptEnabled, variables }: PromptParts,
  builtIns: ReadonlySet<string>,
): AgentWarning[] {
  const prompt = systemPrompt ?? '';
  const defined = new Set([...variables.map(({ name }) => name), ...builtIns]);
  const references = referencedNames(prompt);
  const found = new Set([...prompt.matchAll(BRACES)].map(([, name = '']) => name));
  const unknown = [...found].filter((name) => !defined.has(name));
  if (!dynamicPromptEnabled)
    return unrenderedWarnings(
      [...references].filter((name) => defined.has(name)),
      unknown,
    );
  const warnings = unknown.slice(0, MAX_NAMES).map((name): AgentWarning => {
    const why = references.has(name)
      ? 'there is no such variable'
      : 'that cannot be the name of a variable: those have lower-case letters, digits and underscores';
    const message = `The prompt refers to {{${name}}}, and ${why}. The model reads the braces as text.`;
    return { code: 'variable_not_defined', subject: name, message };
  });
  const more = unknown.length - warnings.length;
  if (more > 0) {
    const message = `The prompt refers to ${more} more names that are no variables and are not told here. The model reads the braces as text.`;
    warnings.push({ code: 'variable_not_defined', subject: null, message });
  }
  return warnings;
}

/** Of a prompt into which nothing is filled. `known`: names that have a value; `unknown`: those that have none. */
function unrenderedWarnings(known: readonly string[], unknown: readonly string[]): AgentWarning[] {
  const warnings: AgentWarning[] = [];
  if (known.length > 0) {
    const message = `The prompt refers to ${inBraces(known)}, but variables are not rendered into it: switch dynamicPromptEnabled on.`;
    warnings.push({ code: 'variables_not_filled_in', subject: known[0] ?? null, message });
  }
  if (unknown.length > 0) {
    const message = `The prompt has ${inBraces(unknown)}, and nothing is filled in: the model reads the braces as text. Define the variables and switch dynamicPromptEnabled on, or remove the braces. If the model is meant to read them, all is well.`;
    warnings.push({ code: 'braces_left_as_text', subject: unknown[0] ?? null, message });
  }
  return warnings;
}
