import type { Snapshot } from '../resources/snapshot.ts';
import { builtInValues } from '../variables/builtIns.ts';
import { renderPrompt } from '../variables/variables.ts';
import { valueProblem } from '../variables/variableValues.ts';

/** The moment that a turn takes as the present, and the zone of its workspace (an IANA name). */
export interface Present {
  at: Date;
  timeZone: string;
}

/**
 * The agent's own prompt with its variables filled in, and with date and time where it refers to them. `given` is the message's own
 * `metadata.variables`, `stored` the conversation's metadata. Throws VALIDATION_ERROR for values of the message that do not fit, and
 * MISSING_VARIABLE.
 */
export function renderInstructions(
  snapshot: Snapshot,
  given: unknown,
  stored: Record<string, unknown> | null,
  present: Present,
): string {
  const prompt = snapshot.systemPrompt ?? '';
  if (!snapshot.dynamicPromptEnabled) return prompt;
  const definitions = snapshot.variables;
  // The values of the first message are stored with the conversation; those of a later message count for its own turn. A stored value
  // may not fit a later version of the agent. That is no error of this message, so the value is ignored.
  const storedValues = (stored?.variables ?? {}) as Record<string, unknown>;
  const fitting = definitions.filter(
    (one) => Object.hasOwn(storedValues, one.name) && valueProblem(one, storedValues[one.name]) === null,
  );
  const values = Object.fromEntries(fitting.map(({ name }) => [name, storedValues[name]]));
  return renderPrompt(
    prompt,
    definitions,
    { ...values, ...(given as object | undefined) },
    builtInValues(present.at, present.timeZone),
  ).text;
}
