import { calls } from '../../../generated/calls.ts';
import { API_PREFIX } from '../../../generated/operations.ts';
import type { AnyRequest, Guildhall } from '../../sdk/index.ts';
import { operationAt } from '../../sdk/request.ts';
import { retryAfterSeconds } from '../../sdk/retry.ts';
import type { Context } from '../context.ts';
import { asUsage, Failure } from '../failure.ts';
import { failureOf } from './response.ts';

/** As many items as a page may have: fewer requests. */
const PAGE_ITEMS = '100';
/** The service's limits are by the minute. One that asks for more is not well. */
const MAX_WAIT_SECONDS = 300;
const DEFAULT_WAIT_SECONDS = 5;
const MAX_WAITS = 10;

/**
 * The items of every page of a list, as they come. A list without pages is said to have none, and its items come all the same.
 * @throws Failure with the status's exit code; `not_a_list` (2) when the answer is no list
 */
export async function* pagesOf(context: Context, api: Guildhall, request: AnyRequest): AsyncGenerator<unknown> {
  const url = new URL(request.path, 'http://localhost');
  const query = [...url.searchParams, ...(request.query ?? [])];
  // The rest of the query is sent again with each page, so it leaves the path.
  const path = request.path.replace(/[?#].*$/s, '');
  if (isPaged(url.pathname) && query.every(([name]) => name !== 'limit')) query.push(['limit', PAGE_ITEMS]);
  const others = query.filter(([name]) => name !== 'page');
  let found = await pageOf(context, api, { ...request, path, query });
  if (!found.hasPages) context.say('This list has no pages: it is whole.');
  yield* found.items;
  while (found.next !== undefined) {
    // What is created meanwhile moves the others: the last of a page is then the first of the next one.
    const before = new Set(found.items.map(idOf));
    found = await pageOf(context, api, { ...request, path, query: [...others, ['page', String(found.next)]] });
    yield* found.items.filter((item) => idOf(item) === undefined || !before.has(idOf(item)));
  }
}

interface Page {
  items: unknown[];
  hasPages: boolean;
  next: number | undefined;
}

/** One page. Where the service asks to wait, it waits and says so. */
async function pageOf(context: Context, api: Guildhall, request: AnyRequest): Promise<Page> {
  for (let waits = 0; ; waits += 1) {
    const response = await api.send(request).catch(asUsage);
    if (response.ok) return pageIn(await response.text());
    const seconds = retryAfterSeconds(response.headers, Date.now()) ?? DEFAULT_WAIT_SECONDS;
    const isBusy = response.status === 429 || response.status === 503;
    if (!isBusy || seconds > MAX_WAIT_SECONDS || waits === MAX_WAITS) throw await failureOf(response);
    await response.body?.cancel();
    await context.wait(seconds * 1_000);
  }
}

function pageIn(text: string): Page {
  const body = parsed(text);
  if (Array.isArray(body)) return { items: body, hasPages: false, next: undefined };
  const { items, page, totalPages } = (body ?? {}) as { items?: unknown; page?: unknown; totalPages?: unknown };
  if (!Array.isArray(items))
    throw new Failure('not_a_list', 2, 'The answer is no list, so --all has nothing to walk through.');
  if (typeof page !== 'number' || typeof totalPages !== 'number') return { items, hasPages: false, next: undefined };
  // An empty page is the last one, whatever a list that grows meanwhile says.
  return { items, hasPages: true, next: items.length > 0 && page < totalPages ? page + 1 : undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the document says that the list at a path has pages. Queries are strict: other lists refuse `limit`. */
function isPaged(pathname: string): boolean {
  const id = operationAt('GET', pathname.startsWith(`${API_PREFIX}/`) ? pathname : API_PREFIX + pathname);
  return id !== undefined && calls[id].paged;
}

function idOf(item: unknown): unknown {
  return (item as { publicId?: unknown } | null)?.publicId;
}
