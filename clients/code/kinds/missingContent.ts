import type { JsonObject } from '../json.ts';

/** Schema of the word that `pull` writes where it has no content: the service gives contents back to nobody. */
export const MISSING: JsonObject = {
  const: 'missing',
  description:
    'Written by `pull`: the content was uploaded elsewhere and cannot be read back. Put it here and remove this line.',
};

/** Why a thing whose content is not in the files cannot be made. `what` tells where the content belongs. */
export function missingContent(what: string): string {
  return `its content is not in the files, and no service gives contents back: ${what}`;
}
