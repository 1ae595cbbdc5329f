import type { Turn } from './types.ts';

/** A turn was given up: a message came that it does not answer, and the next turn answers both. Nothing of it is shown to anybody. */
export class TurnReplaced extends Error {
  readonly code = 'REPLACED';

  constructor() {
    super('Another message came before the reply. The next turn answers both.');
  }
}

/** Whether a turn may be given up for a message that comes now: what its tools have done would be done again. */
export function mayBeReplaced({ request, steps }: Pick<Turn, 'request' | 'steps'>): boolean {
  return request.inbound?.isReplaceable === true && !steps.hasCalledTools;
}
