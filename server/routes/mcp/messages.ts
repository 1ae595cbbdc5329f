import { fault } from '../../../core/errors.ts';

/** Messages of one request (JSON-RPC's batches, which the protocol had until 2025-06-18). */
const MAX_BATCH = 20;
/** Messages of one workspace that are answered at a time in this process: most of them are a request to the API, too. */
const MAX_AT_ONCE = 200;
/** Bytes of a body that is large. */
const LARGE_BODY = 256 * 1024;
/** Large bodies of one workspace that are in memory at a time. */
const MAX_LARGE = 4;

/** The place of one request among those of its workspace. */
export interface MessagePlace {
  /** Counts the messages of its body. Throws VALIDATION_ERROR for too many in one body, and RATE_LIMITED when there is no place for them. */
  hold(body: unknown): void;
  /** Gives the place back. */
  leave(): void;
}

/** What one workspace has under way. */
interface UnderWay {
  messages: number;
  large: number;
}

/** Counts the messages of each workspace that are being read or answered. */
export class Messages {
  readonly #workspaces = new Map<string, UnderWay>();

  /** Takes a place before the body is read; `length` is its announced length. Throws RATE_LIMITED when the workspace has too many. */
  enter(workspaceId: string, length: number | undefined): MessagePlace {
    const under = this.#workspaces.get(workspaceId) ?? { messages: 0, large: 0 };
    const large = length === undefined || length > LARGE_BODY ? 1 : 0;
    if (under.large + large > MAX_LARGE)
      throw full(`${MAX_LARGE} MCP requests with large bodies, or without Content-Length,`);
    let held = 0;
    const take = (count: number) => {
      if (under.messages + count - held > MAX_AT_ONCE) throw full(`${MAX_AT_ONCE} MCP messages`);
      under.messages += count - held;
      held = count;
    };
    take(1);
    under.large += large;
    this.#workspaces.set(workspaceId, under);
    return {
      hold(body) {
        const size = Array.isArray(body) ? body.length : 1;
        if (size > MAX_BATCH) throw fault('VALIDATION_ERROR', `A batch must not have more than ${MAX_BATCH} messages.`);
        take(Math.max(1, size));
      },
      leave: () => {
        under.messages -= held;
        under.large -= large;
        if (under.messages === 0) this.#workspaces.delete(workspaceId);
      },
    };
  }
}

function full(what: string) {
  return fault('RATE_LIMITED', `The workspace has ${what} under way, which is the limit. Wait and try again.`, {
    headers: { 'Retry-After': '1' },
  });
}
