import { ownTurn } from '../../core/ownTurn.ts';
import {
  chunksOf,
  digestOfChunk,
  joinedDigest,
  jsonOfChunk,
  type LogChunk,
  type LogValue,
  MAX_CHUNK,
  sizeOf,
} from './requestChunks.ts';

/** UTF-16 units, about, that are worked on at once. It takes a millisecond or two. */
const MAX_SLICE = 64_000;
/** Chunks that are worked on at once. */
const MAX_SLICE_CHUNKS = 500;

/** What the work on values came to: of small ones at once, of large ones a list for each slice. Others are served between slices. */
export type Slices<Result> = Result[] | AsyncGenerator<Result[], void, undefined>;

/** The digests of values. */
export function digestsOf(values: Iterable<LogValue>): Slices<Buffer> {
  const { first, rest } = takeSmall(values);
  if (rest) return inSlices(chained(first, rest), { work: digestOfChunk, join: joinedDigest });
  return first.map((value) => digestOfChunk({ value }));
}

/** The JSON of values. That of large ones is in UTF-8. */
export function jsonsOf(values: Iterable<LogValue>): Slices<string | Buffer> {
  const { first, rest } = takeSmall(values);
  if (rest) {
    const work = (chunk: LogChunk) => Buffer.from(jsonOfChunk(chunk));
    return inSlices(chained(first, rest), { work, join: joinedBytes });
  }
  return first.map((value) => jsonOfChunk({ value }));
}

/**
 * Takes values until the work on them takes so long that it has to be done in slices; then `rest` has those that are left. Nearly all requests
 * are small: each value is one chunk, and waiting would cost more than the work.
 */
function takeSmall(values: Iterable<LogValue>): { first: LogValue[]; rest: Iterator<LogValue> | null } {
  const first: LogValue[] = [];
  const rest = values[Symbol.iterator]();
  let size = 0;
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    first.push(next.value);
    size += sizeOf(next.value);
    if (size > MAX_CHUNK) return { first, rest };
  }
  return { first, rest: null };
}

function* chained(first: readonly LogValue[], rest: Iterator<LogValue>): Generator<LogValue, void, undefined> {
  yield* first;
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value;
}

const joinedBytes = (all: readonly Buffer[]): Buffer => (all.length === 1 && all[0] ? all[0] : Buffer.concat(all));

/** Does the work for the chunks of values, and joins what it comes to for the chunks of one value. */
async function* inSlices<Result>(
  values: Iterable<LogValue>,
  { work, join }: { work: (chunk: LogChunk) => Result; join: (ofChunks: readonly Result[]) => Result },
): AsyncGenerator<Result[], void, undefined> {
  let done: Result[] = [];
  let chunks = 0;
  let size = 0;
  for (const value of values) {
    const current: Result[] = [];
    for (const { chunk, size: more } of chunksOf(value)) {
      if (chunks > 0 && (size + more > MAX_SLICE || chunks === MAX_SLICE_CHUNKS)) {
        if (done.length > 0) yield done;
        done = [];
        chunks = 0;
        size = 0;
        await ownTurn();
      }
      current.push(work(chunk));
      chunks += 1;
      size += more;
    }
    done.push(join(current));
  }
  if (done.length > 0) yield done;
}
