import { LRUCache } from 'lru-cache';
import { fault } from '../../core/errors.ts';
import type { ToolkitTool } from './toolkit.ts';

/** How long what is known of a registry's tools is good for; the defaults are what the service runs with. In milliseconds. */
export interface ToolListOptions {
  /** Reads the tools of a toolkit. Throws TOOLKIT_REGISTRY_UNAVAILABLE. */
  read: (toolkit: string) => Promise<ToolkitTool[]>;
  /** Longest wait for a list that is not known; two seconds. */
  patienceMs?: number;
  /** A time that only goes forward. */
  now?: () => number;
}

const MAX_WAIT_MS = 2_000;
/** Tools change with releases of the toolkit. */
const FRESH_TTL_MS = 5 * 60_000;
/** What is older is not offered any more, though nothing newer can be had. */
const STALE_TTL_MS = 24 * 60 * 60_000;
/** Nobody waits again for a registry that did not answer just now. */
const FAILURE_TTL_MS = 15_000;
const MAX_LISTS = 100;
const MAX_FAILURES = 1_000;

/**
 * The tools of a registry's toolkits for turns, which cannot wait: a list that is known is answered at once and read again beside that
 * when it has aged; one that is not known is waited for a moment; and a failure is remembered for some seconds.
 */
export class ToolLists {
  readonly #read: ToolListOptions['read'];
  readonly #patienceMs: number;
  readonly #now: () => number;
  readonly #kept = new LRUCache<string, { tools: ToolkitTool[]; readAt: number }>({ max: MAX_LISTS });
  readonly #failed = new LRUCache<string, { error: unknown; at: number }>({ max: MAX_FAILURES });
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

  /** Reads a list, once however many want it, and keeps what comes of it. */
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

  /** The list if it comes in time. Reading goes on: a later turn finds it. */
  async #soon(toolkit: string, reading: Promise<ToolkitTool[]>): Promise<ToolkitTool[]> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const cause = new Error(`Toolkit registry: no tools of ${toolkit} within ${this.#patienceMs} ms.`);
      const error = fault('TOOLKIT_REGISTRY_UNAVAILABLE', undefined, { cause });
      this.#failed.set(toolkit, { error, at: this.#now() });
      late.reject(error);
    }, this.#patienceMs);
    try {
      return await Promise.race([reading, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
