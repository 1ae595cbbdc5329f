/** Requests at a time. The service has turns by workspace, and a person who waits for a plan has other requests too. */
export const PARALLEL_REQUESTS = 6;

/** Does the work for all items, some at a time, and answers the results in the order of the items. The first error ends it. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  limit: number = PARALLEL_REQUESTS,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        results[index] = await work(items[index] as Item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker));
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
  return results;
}
