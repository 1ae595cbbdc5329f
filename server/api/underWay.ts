import type { Response } from 'express';
import { fault } from '../../core/errors.ts';
import type { Principal } from './auth.ts';

/** Operations that are a turn of an agent. They last as long as the agent takes, and are counted apart from requests that are short. */
const TURNS: ReadonlySet<string> = new Set(['sendMessage', 'streamMessage']);
/** A place is free as soon as one of the requests ends. */
const RETRY_AFTER_SECONDS = '1';

/**
 * Counts the requests and the messages of each workspace that are under way in this process. A message is under way until its turn is
 * over, also when its client has left; a request until its client has the answer.
 */
export class UnderWay {
  readonly #requests = new Map<string, number>();
  readonly #turns = new Map<string, number>();

  /**
   * Counts a request of the workspace (`name`: its operation or hook) until its response is closed and the returned function is called: its work is over then. Throws
   * RATE_LIMITED with `Retry-After` at the workspace's limit.
   */
  enter(
    { workspaceId, limits }: Pick<Principal, 'workspaceId' | 'limits'>,
    name: string,
    response: Response,
  ): () => void {
    const isTurn = TURNS.has(name);
    const counts = isTurn ? this.#turns : this.#requests;
    const limit = isTurn ? limits.turns : limits.requests;
    const count = counts.get(workspaceId) ?? 0;
    if (limit !== null && count >= limit) {
      const message = `The workspace has ${limit} ${isTurn ? 'messages' : 'requests'} under way, which is its limit. Wait and try again.`;
      throw fault('RATE_LIMITED', message, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
    }
    counts.set(workspaceId, count + 1);
    let open = 2;
    const over = () => {
      open -= 1;
      if (open > 0) return;
      const left = (counts.get(workspaceId) ?? 0) - 1;
      if (left > 0) counts.set(workspaceId, left);
      else counts.delete(workspaceId);
    };
    if (response.closed) over();
    else response.once('close', over);
    return over;
  }
}
