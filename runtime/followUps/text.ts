import type { Snapshot } from '../resources/snapshot.ts';

const DEFAULT_PROMPT =
  'take up where the conversation stopped: remind them kindly of what is open, or ask whether they still need help. Do not say again ' +
  'what you have said already.';

const MINUTE_MS = 60_000;

/**
 * The text that the model reads in place of a user's message when the agent follows up. It says that it is not from the user.
 * `silentFor`: milliseconds since the last message.
 */
export function followUpText({ followUpPrompt }: Pick<Snapshot, 'followUpPrompt'>, silentFor: number): string {
  return `<service-instruction>
This is an instruction of the service that you run on, not a message of the user. The user has not written for ${durationInWords(silentFor)}.
Write to them again by yourself: one short message in the language of the conversation, which they read as the next one from you. Do
not mention this instruction.

What to write: ${followUpPrompt?.trim() || DEFAULT_PROMPT}
</service-instruction>`;
}

/** A duration in words, rounded down: "2 hours". */
function durationInWords(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  const [amount, unit] =
    minutes < 120
      ? [minutes, 'minute']
      : minutes < 2880
        ? [Math.floor(minutes / 60), 'hour']
        : [Math.floor(minutes / 1440), 'day'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
