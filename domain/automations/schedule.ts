import { createHash } from 'node:crypto';

/** Slots of one moment are begun over this time, so that they do not all ask the models at once. */
const SPREAD_MS = 30_000;

/** Milliseconds from a slot of the automation to the moment when it is begun: always the same ones, less than half a minute. */
export function spreadMs(automationId: string): number {
  return createHash('sha256').update(automationId).digest().readUInt32BE() % SPREAD_MS;
}
