import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { lruCache } from '../../core/lruCache.ts';
import { Places, PlacesTaken } from '../../core/places.ts';
import { beginDiscovery } from '../../db/queries/tools/externalMcps.ts';
import type { DB } from '../../generated/db.ts';
import { McpFailed } from '../../runtime/mcp/failures.ts';
import type { ToolListWatcher } from '../../runtime/mcp/pool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { attemptDiscovery, settleDiscovery } from './discovery.ts';

/** What the lists are read with. */
export interface ToolListContext {
  runtime: Runtime;
  forWorkspace(workspaceId: string): Kysely<DB>;
  logger?: Pick<Logger, 'warn'> | undefined;
}

/** Between two readings of one server's list, however often it says that it changed. */
const MIN_PAUSE_MS = 30_000;
/** A list is taken to be fresh for at least and at most this long, whatever its server says. */
const MIN_FRESH_MS = 5 * 60_000;
const MAX_FRESH_MS = 24 * 60 * 60_000;
/** For a server that does not say how long its list is fresh: those with sessions. */
const USUAL_FRESH_MS = 60 * 60_000;
const MAX_SERVERS = 10_000;
const LIMITS = { atOnce: 4, ofOne: 2, waitingOfOne: 50 };

/** What is known of the list of one server. */
interface KnownList {
  readAt: number;
  freshUntil: number;
  /** It is being read, or waits for its turn. */
  isReading: boolean;
  /** It changed since the reading began. */
  isStale: boolean;
}

/**
 * Reads the lists of tools of MCP servers anew when a server says that its list changed, when a call fails as if it had, and when a turn
 * uses a list that is not fresh any more (https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching). It is done
 * in the background: the next turn has the new tools. A server that cannot be read keeps its tools. One instance in each process.
 */
export class ServerToolLists implements ToolListWatcher {
  readonly #context: ToolListContext;
  readonly #known = lruCache<string, KnownList>(MAX_SERVERS);
  readonly #places = new Places(LIMITS);
  readonly #reading = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(context: ToolListContext) {
    this.#context = context;
  }

  changed(workspaceId: string, serverId: string): void {
    const list = this.#list(workspaceId, serverId);
    list.isStale = true;
    this.#begin(workspaceId, serverId, list);
  }

  shown(workspaceId: string, serverId: string): void {
    const list = this.#list(workspaceId, serverId);
    if (list.freshUntil <= this.#now()) list.isStale = true;
    if (list.isStale) this.#begin(workspaceId, serverId, list);
  }

  /** Ends what is being read. Resolves when nothing is any more. */
  async close(): Promise<void> {
    this.#stopped.abort(new McpFailed('The service is stopping.'));
    await Promise.all(this.#reading);
  }

  #now(): number {
    return this.#context.runtime.clock.now().getTime();
  }

  #list(workspaceId: string, serverId: string): KnownList {
    const key = `${workspaceId}/${serverId}`;
    const known = this.#known.get(key);
    if (known) return known;
    const freshUntil = this.#now() + MIN_FRESH_MS;
    const list = { readAt: Number.NEGATIVE_INFINITY, freshUntil, isReading: false, isStale: false };
    this.#known.set(key, list);
    return list;
  }

  /** Reads a list when the pause after its last reading is over. */
  #begin(workspaceId: string, serverId: string, list: KnownList): void {
    const { signal } = this.#stopped;
    if (list.isReading || signal.aborted) return;
    list.isReading = true;
    const pause = Math.max(0, list.readAt + MIN_PAUSE_MS - this.#now());
    const paused = pause === 0 ? Promise.resolve() : sleep(pause, undefined, { signal, ref: false });
    const reading = paused
      .then(() => this.#places.run(workspaceId, () => this.#read(workspaceId, serverId, list), signal))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.#context.logger?.warn(
          { err: error, workspaceId, externalMcpId: serverId },
          'the tools of a server were not read',
        );
        // The next turn tries again.
        if (error instanceof PlacesTaken) list.freshUntil = this.#now();
        list.isStale = false;
      })
      .then(() => {
        list.isReading = false;
        this.#reading.delete(reading);
        // It changed again meanwhile.
        if (list.isStale) this.#begin(workspaceId, serverId, list);
      });
    this.#reading.add(reading);
  }

  async #read(workspaceId: string, serverId: string, list: KnownList): Promise<void> {
    const { runtime, forWorkspace } = this.#context;
    list.readAt = this.#now();
    list.isStale = false;
    list.freshUntil = list.readAt + MIN_FRESH_MS;
    const db = forWorkspace(workspaceId);
    const row = await beginDiscovery(db, workspaceId, serverId);
    if (row?.status !== 'CONNECTED') return;
    const outcome = await attemptDiscovery(runtime, row, this.#stopped.signal);
    if (outcome instanceof McpFailed) throw outcome;
    const { freshMs } = outcome;
    const fresh = freshMs === null ? USUAL_FRESH_MS : Math.min(Math.max(freshMs, MIN_FRESH_MS), MAX_FRESH_MS);
    list.freshUntil = list.readAt + fresh;
    await settleDiscovery({ db, workspaceId, runtime, clock: runtime.clock }, row, outcome, { isRefresh: true });
  }
}
