import dns from 'node:dns';
import net from 'node:net';
import { untilAborted } from '../deadline.ts';
import { lruCache } from '../lruCache.ts';
import { Places, PlacesTaken } from '../places.ts';
import { OutgoingFailed } from './failures.ts';
import { SystemNames } from './systemFiles.ts';

/** An IP address, and whether it is of version 4 or 6. */
export interface ResolvedAddress {
  address: string;
  family: number;
}

/** For whom a name is looked up. */
export interface LookupCall {
  /** The workspace that chose the name; null where the operator chose it. */
  workspaceId: string | null;
  /** Ends the look-up; its own reason is thrown. */
  signal: AbortSignal;
}

/** Resolves a host name to all its addresses. */
export type Lookup = (hostname: string, call: LookupCall) => Promise<ResolvedAddress[]>;

/** What a resolver works with; the defaults are those of the service. */
export interface NameResolverOptions {
  /** Name servers, `address` or `address:port`; those of the system when empty. */
  servers?: readonly string[];
  hostsFile?: string;
  resolvConf?: string;
  /** Milliseconds that one look-up may take, all name servers and attempts together. */
  deadlineMs?: number;
  /** Milliseconds that a name without an address is remembered. */
  failureMs?: number;
}

/** Milliseconds until a name server is asked again. The library looks once a second, so it is two seconds. */
const ATTEMPT_MS = 1500;
const ATTEMPTS = 3;
const DEADLINE_MS = 5000;
/** Milliseconds that addresses of one version wait for those of the other. */
const OTHER_VERSION_MS = 300;
/** Look-ups of one workspace under way, and waiting. A look-up holds a socket for five seconds at most. */
const PLACES = { atOnce: 256, ofOne: 16, waitingOfOne: 500 };
/** Characters of a name with the dot at its end (RFC 1035, 2.3.4). */
const MAX_NAME = 254;
/** Names in memory. */
const MAX_NAMES = 5000;
/** Addresses of a name that are used. */
const MAX_ADDRESSES = 32;
const MIN_TTL_MS = 1000;
/** Longer than it takes to load a page; short, because a name that moved must be followed. */
const MAX_TTL_MS = 30_000;
const FAILURE_MS = 5000;
/** The holder of look-ups of names that the operator chose. No workspace has this id. */
const OPERATOR = '';
const NOT_FOUND: readonly unknown[] = [dns.NOTFOUND, dns.NODATA];

type Found = { addresses: ResolvedAddress[] } | { failure: OutgoingFailed };

/** A look-up under way, and the calls that wait for it. */
interface Pending {
  found: Promise<Found>;
  calls: number;
  stop: AbortController;
}

/**
 * Resolves host names over sockets of its own: the hosts file first, then DNS. The look-ups of the C library (`dns.lookup`) take one of the
 * few threads that files and compression need too, and cannot be ended. Here a look-up has a deadline and ends with the last call that
 * waits for it, and workspaces take turns. Answers and failures are remembered for seconds: callers check the addresses at each
 * connection all the same.
 */
export class NameResolver {
  #servers: readonly string[];
  readonly #system: SystemNames;
  readonly #deadlineMs: number;
  readonly #failureMs: number;
  readonly #places = new Places(PLACES);
  readonly #known = lruCache<string, Found>(MAX_NAMES);
  readonly #pending = new Map<string, Pending>();

  constructor({ servers = [], deadlineMs, failureMs, ...files }: NameResolverOptions = {}) {
    this.#servers = servers;
    this.#system = new SystemNames(files);
    this.#deadlineMs = deadlineMs ?? DEADLINE_MS;
    this.#failureMs = failureMs ?? FAILURE_MS;
  }

  /** Asks other name servers from now on, those of the system when the list is empty. Forgets all names. */
  useServers(servers: readonly string[]): void {
    this.#servers = servers;
    this.#known.clear();
  }

  /** All addresses of a name, those of version 4 first. Throws OutgoingFailed, or the signal's reason. */
  readonly lookup: Lookup = async (host, { workspaceId, signal }) => {
    signal.throwIfAborted();
    if (host.length > MAX_NAME) throw new OutgoingFailed('dns', 'A host name has at most 253 characters.');
    const own = this.#system.addressesOf(host);
    if (own !== undefined) return own.map((address) => ({ address, family: net.isIP(address) }));
    const found = this.#known.get(host) ?? (await this.#join(host, workspaceId ?? OPERATOR, signal));
    if ('failure' in found) throw found.failure;
    return [...found.addresses];
  };

  /**
   * The texts of the TXT records of a name, of its whole name only; empty when there are none. Nothing is remembered. For names that the
   * operator looks up. Throws OutgoingFailed when no name server answers.
   */
  async texts(name: string): Promise<string[]> {
    const resolver = new dns.promises.Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS, maxTimeout: ATTEMPT_MS });
    if (this.#servers.length > 0) resolver.setServers(this.#servers);
    const deadline = setTimeout(() => resolver.cancel(), this.#deadlineMs);
    try {
      // A long text comes in pieces of 255 bytes (RFC 1035, 3.3).
      return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''));
    } catch (error) {
      if (NOT_FOUND.includes((error as NodeJS.ErrnoException).code)) return [];
      throw new OutgoingFailed('dns', `The TXT record of ${name} could not be read: no name server answered.`, error);
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Waits for the look-up of this name that the workspace has under way, or begins one. */
  async #join(host: string, workspaceId: string, signal: AbortSignal): Promise<Found> {
    // By workspace, because a look-up that waits waits for others of its workspace.
    const key = `${workspaceId} ${host}`;
    const pending = this.#pending.get(key) ?? this.#begin(key, host, workspaceId);
    pending.calls += 1;
    try {
      return await untilAborted(pending.found, signal);
    } finally {
      pending.calls -= 1;
      if (pending.calls === 0) {
        pending.stop.abort();
        if (this.#pending.get(key) === pending) this.#pending.delete(key);
      }
    }
  }

  #begin(key: string, host: string, workspaceId: string): Pending {
    const stop = new AbortController();
    const found = this.#places
      .run(workspaceId, () => this.#ask(host, stop.signal), stop.signal)
      .catch((error): Found => {
        if (!(error instanceof PlacesTaken)) throw error;
        const why = 'too many look-ups of this workspace are waiting. Try again in a moment.';
        return { failure: new OutgoingFailed('dns', `The host name ${host} could not be resolved: ${why}`) };
      });
    // Nobody waits any more for a look-up that was stopped.
    found.catch(() => undefined);
    const pending = { found, calls: 0, stop };
    this.#pending.set(key, pending);
    return pending;
  }

  async #ask(host: string, stopped: AbortSignal): Promise<Found> {
    // Made for each look-up: it reads the system's name servers again, and cancelling ends all its queries.
    const resolver = new dns.promises.Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS, maxTimeout: ATTEMPT_MS });
    if (this.#servers.length > 0) resolver.setServers(this.#servers);
    const deadline = AbortSignal.timeout(this.#deadlineMs);
    const cancel = () => resolver.cancel();
    for (const signal of [stopped, deadline]) signal.addEventListener('abort', cancel, { once: true });
    let failed: unknown;
    try {
      for (const name of this.#system.candidates(host)) {
        if (stopped.aborted || deadline.aborted) break;
        try {
          return this.#remember(host, ...(await addressesOf(resolver, name)));
        } catch (error) {
          if (!NOT_FOUND.includes((error as NodeJS.ErrnoException).code)) failed ??= error;
        }
      }
    } finally {
      for (const signal of [stopped, deadline]) signal.removeEventListener('abort', cancel);
      resolver.cancel();
    }
    stopped.throwIfAborted();
    const late = deadline.aborted || (failed as NodeJS.ErrnoException | undefined)?.code === dns.TIMEOUT;
    const why = late ? ': no name server answered in time.' : '.';
    const failure = new OutgoingFailed('dns', `The host name ${host} could not be resolved${why}`, failed);
    this.#known.set(host, { failure }, { ttl: this.#failureMs });
    return { failure };
  }

  #remember(host: string, addresses: ResolvedAddress[], ttlMs: number): Found {
    const found = { addresses };
    this.#known.set(host, found, { ttl: Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS) });
    return found;
  }
}

/** The addresses of one full name and the milliseconds for which they hold. Throws the error of the resolver when there is none. */
async function addressesOf(resolver: dns.promises.Resolver, name: string): Promise<[ResolvedAddress[], number]> {
  const records: { address: string; ttl: number }[] = [];
  const errors: unknown[] = [];
  const enough = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const collect = async (query: Promise<dns.RecordWithTtl[]>) => {
    try {
      const found = await query;
      records.push(...found);
      if (found.length > 0) timer ??= setTimeout(enough.resolve, OTHER_VERSION_MS);
    } catch (error) {
      errors.push(error);
    }
  };
  const both = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })].map(collect);
  await Promise.race([Promise.all(both), enough.promise]);
  clearTimeout(timer);
  if (records.length === 0) {
    // An answer may have no address and still be no error: aliases that lead nowhere.
    const nothing = Object.assign(new Error('The answer has no address.'), { code: dns.NODATA });
    throw errors.find((error) => !NOT_FOUND.includes((error as NodeJS.ErrnoException).code)) ?? nothing;
  }
  const addresses = records.map(({ address }) => ({ address, family: net.isIP(address) }));
  const ttlMs = Math.min(...records.map(({ ttl }) => ttl)) * 1000;
  return [addresses.sort((a, b) => a.family - b.family).slice(0, MAX_ADDRESSES), ttlMs];
}

/** Whether a text is a name server: an IP address, with a port if it is not 53. An address of version 6 with a port is in brackets. */
export function isNameServer(text: string): boolean {
  try {
    new dns.Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

/** The resolver of this process. */
export const systemNames: NameResolver = new NameResolver();
