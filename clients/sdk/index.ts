import createClient, { type Client } from 'openapi-fetch';
import type { paths } from '../../generated/api.ts';
import { API_PREFIX, type OperationId } from '../../generated/operations.ts';
import { bodyOf } from './answer.ts';
import { eventsOf } from './events.ts';
import { type GuildhallOptions, type Settings, settingsOf, urlOf } from './options.ts';
import { itemsOf } from './pages.ts';
import { callOf, headersOf, isSafe, operationAt, requestOf, timeoutOf } from './request.ts';
import { exchange, type Outgoing } from './transport.ts';
import type {
  AnyInput,
  Input,
  InputArgument,
  Item,
  ListOperationId,
  Output,
  RequestBody,
  StreamEvent,
} from './types.ts';

export { ConnectionError, GuildhallError, TimeoutError } from './errors.ts';
export type { GuildhallOptions, Retry } from './options.ts';
export type {
  AnyCode,
  AnyInput,
  CallOptions,
  CodeOf,
  ErrorDetail,
  Input,
  Item,
  ListOperationId,
  OperationId,
  Output,
  RequestBody,
  StreamEvent,
  UploadFile,
} from './types.ts';

/** Any request to the API. */
export interface AnyRequest {
  method: string;
  /** `agents`, `/agents`, with the prefix `/public/api/v1`, or a whole address of the service. It may have a query. */
  path: string;
  /** Added to the query of the path. A name may be repeated. */
  query?: readonly (readonly [string, string])[] | undefined;
  headers?: Record<string, string> | undefined;
  /** A stream is sent once: the request is not repeated. */
  body?: RequestBody | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** The API of one workspace. */
export interface Guildhall {
  /**
   * The typed client of openapi-fetch, with the same key, retries and limits. It throws ConnectionError and TimeoutError; an answer that is
   * an error is its `error`.
   */
  readonly http: Client<paths>;

  /**
   * Calls an operation and answers the body of the success; `undefined` when that has none. An operation that takes an `Idempotency-Key`
   * gets a new one unless the input has one.
   * @throws GuildhallError when the service answers with an error
   * @throws ConnectionError when no answer came, or it broke off
   * @throws TimeoutError when an attempt took longer than `timeoutMs`
   * @throws TypeError when the input cannot make a request of this operation
   */
  call<Id extends OperationId>(id: Id, ...input: InputArgument<Id>): Promise<Output<Id>>;

  /**
   * The elements of a list, of all its pages from `query.page` on. `query.limit` is the size of a page, 100 without it. Throws as `call`.
   */
  items<Id extends ListOperationId>(id: Id, ...input: InputArgument<Id>): AsyncIterable<Item<Id>>;

  /**
   * Sends a message and gives the events of the reply as they come. It ends after the one last event: `debug-info`, or `error` when the
   * turn failed. Whoever leaves the loop closes the connection; the turn is completed and stored all the same.
   * @throws ConnectionError also when the stream ends without its last event
   * @throws TimeoutError when the stream is silent for `timeoutMs`; the service sends a sign of life every 15 seconds
   */
  events(input: Input<'streamMessage'>): AsyncIterable<StreamEvent>;

  /**
   * Sends any request under the prefix of the API. Whatever the status, it answers the response.
   * @throws TypeError when the address is not one of the API of this service: the key is not sent there
   * @throws ConnectionError, TimeoutError as `call`; reading the body of the response throws them as well
   */
  send(request: AnyRequest): Promise<Response>;
}

/**
 * A client of the API. It sends nothing by itself.
 * @throws TypeError when an option is wrong
 */
export function guildhall(options: GuildhallOptions = {}): Guildhall {
  const settings = settingsOf(options);
  const call = (id: OperationId, input: AnyInput = {}): Promise<unknown> => callOperation(settings, id, input);
  return {
    http: typedClient(settings),
    call: call as Guildhall['call'],
    items: ((id: OperationId, input: AnyInput = {}) =>
      itemsOf(call, id, input, callOf(id).paged)) as Guildhall['items'],
    events: (input) => eventsOf(settings, input),
    send: (request) => sendAny(settings, request),
  };
}

async function callOperation(settings: Settings, id: OperationId, input: AnyInput): Promise<unknown> {
  if (id === 'streamMessage') throw new TypeError('streamMessage answers with a stream: use events().');
  return exchange(settings, requestOf(settings, id, input), (response) => {
    input.onResponse?.(response);
    return bodyOf(response, id);
  });
}

async function sendAny(settings: Settings, { method, path, query = [], ...rest }: AnyRequest): Promise<Response> {
  const url = addressOf(settings, path);
  for (const [name, value] of query) url.searchParams.append(name, value);
  const verb = method.toUpperCase();
  if (rest.body !== undefined && (verb === 'GET' || verb === 'HEAD')) throw new TypeError(`${verb} takes no body.`);
  const headers = headersOf(settings, rest.headers);
  return exchange(settings, outgoing(settings, verb, url, headers, rest), async (response) => response);
}

function outgoing(
  settings: Settings,
  method: string,
  url: URL,
  headers: Headers,
  { body, signal, timeoutMs }: Pick<AnyRequest, 'body' | 'signal' | 'timeoutMs'>,
): Outgoing {
  const id = operationAt(method, url.pathname);
  const safe = isSafe(id, method, headers);
  return { method, url: url.href, headers, body, signal, safe, timeoutMs: timeoutOf(settings, id, timeoutMs) };
}

/** The address that a path means. */
function addressOf({ base, origin }: Settings, path: string): URL {
  const prefix = new URL(base).pathname;
  const relative = path.startsWith('/') ? path : `/${path}`;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(path)
    ? path
    : relative.startsWith(`${API_PREFIX}/`)
      ? base.slice(0, -API_PREFIX.length) + relative
      : base + relative;
  const url = urlOf(text);
  if (!url || url.origin !== origin || !url.pathname.startsWith(`${prefix}/`) || url.username || url.password) {
    throw new TypeError(`${path} is no path of the API at ${base}. The key is not sent there.`);
  }
  url.hash = '';
  return url;
}

function typedClient(settings: Settings): Client<paths> {
  const client = createClient<paths>({
    baseUrl: settings.base,
    async fetch(request) {
      const url = addressOf(settings, request.url);
      const headers = headersOf(settings, Object.fromEntries(request.headers));
      const body = request.body ? await request.arrayBuffer() : undefined;
      const sent = outgoing(settings, request.method, url, headers, { body, signal: request.signal });
      return exchange(settings, sent, async (response) => response);
    },
  });
  return client;
}
