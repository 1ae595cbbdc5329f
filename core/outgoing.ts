import { pipeline, type Readable, type Transform } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
import { bareHost, checkUrl, resolveChecked } from './outgoing/address.ts';
import { asFailure, OutgoingFailed, OutgoingRefused } from './outgoing/failures.ts';
import { type Lookup, type ResolvedAddress, systemNames } from './outgoing/names.ts';
import { redirectRefused, redirectTarget } from './outgoing/redirect.ts';
import { webStream } from './outgoing/webStream.ts';
import {
  decoderFor,
  headersForOtherOrigin,
  headersWithoutBody,
  METHODS,
  NULL_BODY,
  REDIRECTS,
  requestHeaders,
  responseHeaders,
  tooLarge,
} from './outgoing/wire.ts';
import { WireBound } from './outgoing/wireBound.ts';

export { OutgoingFailed, type OutgoingFailure, OutgoingRefused } from './outgoing/failures.ts';
export { isOwnedByHttp } from './outgoing/wire.ts';

/** For whom a call is made, and where it may go. */
export interface OutgoingCaller {
  /** Lets loopback, RFC 1918, carrier grade NAT and unique local addresses pass. Cloud metadata stays refused. */
  allowPrivateNetwork: boolean;
  /** The workspace that chose the address: its look-ups of names take turns with those of others. Null where the operator chose it. */
  workspaceId: string | null;
}

/** Limits of a call. None has a default, so that each caller chooses them. */
export interface OutgoingLimits extends OutgoingCaller {
  /** Milliseconds for the whole call: look-up, connection, every redirect, the last byte of the body. */
  timeoutMs: number;
  /** Largest body in bytes, after decompression; reading stops there. */
  maxBytes: number;
}

/** One request and the limits of its call. */
export interface OutgoingRequest extends OutgoingLimits {
  /** GET when absent. */
  method?: string;
  /** Headers that HTTP itself owns (Host, Content-Length, Connection, Accept-Encoding, …) are left out, as in a browser. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Names of headers that carry a credential: a redirect to another origin takes none of them along, `User-Agent` neither. */
  secretHeaders?: readonly string[];
  /** Redirects to follow; 5 when absent. One more is an `OutgoingFailed`. */
  maxRedirects?: number;
  /** Ends the call; its own reason is thrown. */
  signal?: AbortSignal;
  /** Short for an `Accept` header. */
  accept?: string;
}

/** A complete response. */
export interface OutgoingResponse {
  status: number;
  /** Lower-case names; a repeated header is joined with `, `. */
  headers: Record<string, string>;
  body: Buffer;
  /** Where the response came from, after redirects. */
  url: string;
}

/** Replaced by tests: the resolver, and the address that is connected to in place of a checked one. */
export interface OutgoingSeams {
  lookup?: Lookup;
  /** Gets the checked addresses and the port. Returns the socket to open instead. */
  dial?: (addresses: ResolvedAddress[], port: number) => { address: string; port: number };
}

/** HTTP to addresses that a tenant chose, each of them checked. */
export interface OutgoingClient {
  /**
   * One HTTP request to an address that a tenant chose. Every resolved address is checked and is the one connected to, on every
   * redirect too; proxy variables of the environment play no part. Any HTTP status is a result.
   * @throws {OutgoingRefused} the address, or one that it redirects to, is not allowed
   * @throws {OutgoingFailed} no complete response within the limits
   */
  guardedFetch(url: string | URL, request: OutgoingRequest): Promise<OutgoingResponse>;
  /**
   * The same guard with the shape of the global `fetch`, for SDKs that take one; the body is streamed. The time limit covers the
   * stream too. An address or network error rejects with the classes above, not with a TypeError.
   */
  guardedFetchLike(limits: OutgoingLimits): typeof fetch;
}

interface OpenResponse {
  status: number;
  headers: Record<string, string>;
  url: URL;
  /** Decoded and capped; throws the failures of this module. */
  body: AsyncGenerator<Buffer, void, undefined>;
  /** Ends the connection; needed only where `body` is never begun. */
  close: () => void;
}

type OpenRequest = Omit<OutgoingRequest, 'accept'> & { redirect?: 'follow' | 'manual' | 'error' };

/** Makes a client; the service uses the one below, tests bring a resolver and a dialler of their own. */
export function createOutgoingClient(seams: OutgoingSeams = {}): OutgoingClient {
  const lookup = seams.lookup ?? systemNames.lookup;

  /** Resolves, checks, and connects to what was checked: the socket's own look-up is answered from that list. */
  function connectChecked(
    build: typeof buildConnector,
    limits: OutgoingLimits & { signal: AbortSignal },
    wireBound: WireBound,
  ): buildConnector.connector {
    return (options, callback) => {
      const connected: buildConnector.Callback = (...result) => {
        // After a failure there is no socket: not even null, other than the type says.
        if (result[1]) wireBound.watch(result[1]);
        callback(...result);
      };
      resolveChecked(bareHost(options.hostname), limits, lookup).then(
        (addresses) => {
          const connect = build({
            timeout: limits.timeoutMs,
            allowH2: false,
            maxCachedSessions: 0,
            lookup: (_hostname, asked, answer) => {
              const [first = { address: '', family: 4 }] = addresses;
              if (asked.all === true) answer(null, addresses);
              else answer(null, first.address, first.family);
            },
          });
          const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
          const dialled = seams.dial?.(addresses, port);
          if (dialled === undefined) connect(options, connected);
          else connect({ ...options, hostname: dialled.address, port: String(dialled.port) }, connected);
        },
        (error: unknown) => callback(asFailure(error, bareHost(options.hostname)), null),
      );
    };
  }

  async function open(input: string | URL, request: OpenRequest): Promise<OpenResponse> {
    const { allowPrivateNetwork, timeoutMs, maxBytes, maxRedirects = 5, redirect = 'follow' } = request;
    let url = checkUrl(input, allowPrivateNetwork);
    let method = (request.method ?? 'GET').toUpperCase();
    if (!METHODS.has(method)) throw new OutgoingRefused(`The method must be one of ${[...METHODS].join(', ')}.`);
    let body = request.body;
    let headers = requestHeaders(request.headers ?? {});
    const firstHost = url.host;
    request.signal?.throwIfAborted();

    // Loaded at the first call: 80 ms and some megabytes that an idle service need not have.
    const undici = await import('undici');
    const clock = new AbortController();
    const timer = setTimeout(() => {
      clock.abort(new OutgoingFailed('timeout', `${firstHost} did not answer completely within ${timeoutMs} ms.`));
    }, timeoutMs);
    const signal = request.signal ? AbortSignal.any([clock.signal, request.signal]) : clock.signal;
    const wireBound = new WireBound(
      () => url.host,
      (failure) => clock.abort(failure),
    );
    // An agent per call: no connection made for one tenant, or with private networks allowed, ever serves another call.
    const agent = new undici.Agent({
      connect: connectChecked(undici.buildConnector, { ...request, signal }, wireBound),
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const close = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', close);
      void agent.destroy().catch(() => undefined);
    };
    // Also where the body is never begun, so that nothing else would.
    signal.addEventListener('abort', close);
    const explain = (error: unknown, host: string): unknown =>
      signal.aborted ? signal.reason : asFailure(error, host);

    let response: Dispatcher.ResponseData;
    try {
      for (let hop = 0; ; hop += 1) {
        try {
          response = await undici.request(url, {
            dispatcher: agent,
            method: method as Dispatcher.HttpMethod,
            headers: Object.fromEntries(headers),
            body: body ?? null,
            signal,
            onInfo: () => wireBound.inform(),
          });
        } catch (error) {
          const explained = explain(error, url.host);
          throw hop > 0 && explained instanceof OutgoingRefused ? redirectRefused(firstHost) : explained;
        }
        // Destroying a body, and an abort after the last read, emit an error that nobody else waits for.
        response.body.on('error', () => undefined);
        const location = responseHeaders(response.headers).location;
        if (!REDIRECTS.has(response.statusCode) || location === undefined || redirect === 'manual') break;
        response.body.destroy();
        if (redirect === 'error' || hop >= maxRedirects) {
          throw new OutgoingFailed(
            'redirect',
            hop === 0
              ? `${firstHost} redirects, which is not followed for this request.`
              : `${firstHost} redirects more than ${hop} times.`,
          );
        }
        const next = redirectTarget(location, url, firstHost, allowPrivateNetwork);
        const becomesGet =
          response.statusCode === 303 ? method !== 'HEAD' : response.statusCode < 303 && method === 'POST';
        if (becomesGet) {
          method = 'GET';
          body = undefined;
          headers = headersWithoutBody(headers);
        }
        if (next.origin !== url.origin) headers = headersForOtherOrigin(headers, request.secretHeaders);
        url = next;
      }
    } catch (error) {
      close();
      throw error;
    }

    const { statusCode: status, body: wire } = response;
    const answered = responseHeaders(response.headers);
    const host = url.host;
    let decoder: Transform | null = null;
    try {
      if (status > 599) throw new OutgoingFailed('protocol', `${host} answered with a status that HTTP does not have.`);
      const length = Number(answered['content-length'] ?? Number.NaN);
      const empty = method === 'HEAD' || NULL_BODY.has(status) || length === 0;
      decoder = empty ? null : decoderFor(answered['content-encoding'] ?? '', host);
      if (!empty && decoder === null && length > maxBytes) throw tooLarge(host, maxBytes);
    } catch (error) {
      wire.destroy();
      close();
      throw error;
    }
    if (decoder !== null) {
      pipeline(wire, decoder, () => undefined);
      delete answered['content-encoding'];
      delete answered['content-length'];
    }
    const source: Readable = decoder ?? wire;

    async function* read(): AsyncGenerator<Buffer, void, undefined> {
      let size = 0;
      try {
        for await (const chunk of source as AsyncIterable<Buffer>) {
          size += chunk.length;
          wireBound.take(chunk.length);
          if (size > maxBytes) throw tooLarge(host, maxBytes);
          yield chunk;
        }
      } catch (error) {
        throw explain(error, host);
      } finally {
        wire.destroy();
        close();
      }
    }
    // Until its body is closed, undici listens to the signal, and what listens to a signal of several is kept for ever.
    const closeUnread = () => {
      wire.destroy();
      close();
    };
    return { status, headers: answered, url, body: read(), close: closeUnread };
  }

  return {
    async guardedFetch(input, { accept, ...request }) {
      const headers = accept === undefined ? request.headers : { ...request.headers, accept };
      const opened = await open(input, { ...request, headers });
      const chunks: Buffer[] = [];
      for await (const chunk of opened.body) chunks.push(chunk);
      return { status: opened.status, headers: opened.headers, body: Buffer.concat(chunks), url: opened.url.href };
    },

    guardedFetchLike(limits) {
      return async (input, init) => {
        const request = new Request(input, init);
        const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
        const opened = await open(request.url, {
          ...limits,
          method: request.method,
          headers: Object.fromEntries(request.headers),
          ...(body === undefined ? {} : { body }),
          // The given one: a Request's own follows it only until the Request is collected, and the body outlives that.
          signal: init?.signal ?? request.signal,
          redirect: request.redirect,
        });
        const withoutBody = NULL_BODY.has(opened.status) || request.method === 'HEAD';
        if (withoutBody) opened.close();
        const response = new Response(withoutBody ? null : webStream(opened.body, opened.close), {
          status: opened.status,
          headers: opened.headers,
        });
        Object.defineProperty(response, 'url', { value: opened.url.href });
        return response;
      };
    },
  };
}

const client = createOutgoingClient();

/** {@link OutgoingClient.guardedFetch} with the resolver of this process. */
export const guardedFetch: OutgoingClient['guardedFetch'] = client.guardedFetch;

/** {@link OutgoingClient.guardedFetchLike} with the resolver of this process. */
export const guardedFetchLike: OutgoingClient['guardedFetchLike'] = client.guardedFetchLike;
