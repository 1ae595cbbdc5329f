import type { Snapshot } from '../resources/snapshot.ts';
import { renderPrompt } from '../variables/variables.ts';
import { valueProblem } from '../variables/variableValues.ts';

/**
 * The agent's own prompt with its variables filled in. `given` is the message's own `metadata.variables`, `stored` the conversation's
 * metadata. Throws VALIDATION_ERROR for given values that do not fit, MISSING_VARIABLE.
 */
export function renderInstructions(snapshot: Snapshot, given: unknown, stored: Record<string, unknown> | null): string {
  const prompt = snapshot.systemPrompt ?? '';
  if (!snapshot.dynamicPromptEnabled) return prompt;
  const definitions = snapshot.variables;
  // The first message's values stay with the conversation; a later message's count for its own turn. A kept value can have
  // lost its type or option with a later version: that is not this message's fault, so it is as if there were none.
  const kept = (stored?.variables ?? {}) as Record<string, unknown>;
  const fitting = definitions.filter(
    (one) => Object.hasOwn(kept, one.name) && valueProblem(one, kept[one.name]) === null,
  );
  const values = Object.fromEntries(fitting.map(({ name }) => [name, kept[name]]));
  return renderPrompt(prompt, definitions, { ...values, ...(given as object | undefined) }).text;
}
