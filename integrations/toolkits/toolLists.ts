import { withDeadline } from '../../core/deadline.ts';
import { fault } from '../../core/errors.ts';
import { lruCache } from '../../core/lruCache.ts';
import type { ToolkitTool } from './toolkit.ts';

/** How a registry's tool lists are read and cached. Times are in milliseconds; the defaults are for production. */
export interface ToolListOptions {
  /** Reads the tools of a toolkit. Throws TOOLKIT_REGISTRY_UNAVAILABLE. */
  read: (toolkit: string) => Promise<ToolkitTool[]>;
  /** Maximum wait for a list that is not cached; two seconds by default. */
  patienceMs?: number;
  /** A monotonic clock. */
  now?: () => number;
}

const MAX_WAIT_MS = 2_000;
/** Tools change with releases of the toolkit. */
const FRESH_TTL_MS = 5 * 60_000;
/** An older list is not used, even when the registry does not respond. */
const STALE_TTL_MS = 24 * 60 * 60_000;
/** For this long after a failure no turn waits for the registry again. */
const FAILURE_TTL_MS = 15_000;
const MAX_LISTS = 100;
const MAX_FAILURES = 1_000;

/**
 * Caches the tools of a registry's toolkits for turns, which cannot wait. A cached list is returned at once, and refreshed in the
 * background when it is old. A list that is not cached is waited for briefly. A failure is remembered for some seconds.
 */
export class ToolLists {
  readonly #read: ToolListOptions['read'];
  readonly #patienceMs: number;
  readonly #now: () => number;
  readonly #kept = lruCache<string, { tools: ToolkitTool[]; readAt: number }>(MAX_LISTS);
  readonly #failed = lruCache<string, { error: unknown; at: number }>(MAX_FAILURES);
  readonly #reading = new Map<string, Promise<ToolkitTool[]>>();

  constructor({ read, patienceMs = MAX_WAIT_MS, now = () => performance.now() }: ToolListOptions) {
    this.#read = read;
    this.#patienceMs = patienceMs;
    this.#now = now;
  }

  /** The tools of a toolkit. Throws TOOLKIT_REGISTRY_UNAVAILABLE; the same error again while the failure is remembered. */
  async of(toolkit: string): Promise<readonly ToolkitTool[]> {
    const kept = this.#kept.get(toolkit);
    const age = kept ? this.#now() - kept.readAt : Number.POSITIVE_INFINITY;
    const failed = this.#failed.get(toolkit);
    const failedNow = failed !== undefined && this.#now() - failed.at < FAILURE_TTL_MS;
    if (kept && age < STALE_TTL_MS) {
      if (age >= FRESH_TTL_MS && !failedNow) void this.#start(toolkit);
      return kept.tools;
    }
    if (failedNow) throw failed.error;
    return await this.#soon(toolkit, this.#start(toolkit));
  }

  /** Reads a list and caches it, or its failure. Concurrent callers share one request. */
  #start(toolkit: string): Promise<ToolkitTool[]> {
    const underWay = this.#reading.get(toolkit);
    if (underWay) return underWay;
    const reading = this.#read(toolkit);
    this.#reading.set(toolkit, reading);
    reading.then(
      (tools) => {
        this.#reading.delete(toolkit);
        this.#failed.delete(toolkit);
        this.#kept.set(toolkit, { tools, readAt: this.#now() });
      },
      (error: unknown) => {
        this.#reading.delete(toolkit);
        this.#failed.set(toolkit, { error, at: this.#now() });
      },
    );
    return reading;
  }

  /** Returns the list if it arrives in time. Otherwise reading continues, and a later turn finds it. */
  #soon(toolkit: string, reading: Promise<ToolkitTool[]>): Promise<ToolkitTool[]> {
    return withDeadline(reading, this.#patienceMs, () => {
      const cause = new Error(`Toolkit registry: no tools of ${toolkit} within ${this.#patienceMs} ms.`);
      const error = fault('TOOLKIT_REGISTRY_UNAVAILABLE', undefined, { cause });
      this.#failed.set(toolkit, { error, at: this.#now() });
      return error;
    });
  }
}
