import type { OperationId } from '../../generated/operations.ts';
import type { AnyInput } from './types.ts';

/** The most that the document allows on a page. */
const PAGE_LIMIT = 100;

interface Page {
  items: unknown[];
  page?: number;
  totalPages?: number;
}

/** The elements of a list, of all its pages. `read` calls the operation. See `Guildhall.items`. */
export async function* itemsOf(
  read: (id: OperationId, input: AnyInput) => Promise<unknown>,
  id: OperationId,
  input: AnyInput,
  paged: boolean,
): AsyncGenerator<unknown, void, undefined> {
  let query = paged ? { limit: PAGE_LIMIT, ...input.query } : input.query;
  let before = new Set<unknown>();
  for (;;) {
    const answer = (await read(id, { ...input, query })) as unknown[] | Page;
    if (Array.isArray(answer)) return yield* answer;
    const ids = answer.items.map(idOf);
    // What is created while the pages are read moves the others: the last of a page is then the first of the next one.
    yield* answer.items.filter((_, index) => ids[index] === undefined || !before.has(ids[index]));
    const { page, totalPages } = answer;
    if (page === undefined || totalPages === undefined || page >= totalPages || ids.length === 0) return;
    before = new Set(ids);
    query = { ...query, page: page + 1 };
  }
}

function idOf(item: unknown): unknown {
  return (item as { publicId?: unknown } | null)?.publicId;
}
