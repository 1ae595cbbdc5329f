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
/** Whether the work on values takes so long that it has to be done in slices. */
function isLarge(values: Iterable<LogValue>): boolean {
  let size = 0;
  for (const value of values) {
    size += sizeOf(value);
    if (size > MAX_CHUNK) return true;
  }
  return false;
}

/** The digests of values, a list for each slice. Other requests are served between slices, when there are several. */
export const digestsOf = (values: () => Iterable<LogValue>): AsyncGenerator<Buffer[]> =>
  isLarge(values()) ? inSlices(values(), { work: digestOfChunk, join: joinedDigest }) : atOnce(values(), digestOfChunk);

/** The JSON of values, as `digestsOf`. That of large ones is in UTF-8. */
export const jsonsOf = (values: () => Iterable<LogValue>): AsyncGenerator<(string | Buffer)[]> =>
  isLarge(values())
    ? inSlices(values(), { work: (chunk) => Buffer.from(jsonOfChunk(chunk)), join: joinedBytes })
    : atOnce(values(), jsonOfChunk);

/** Nearly all requests are small: each value is one chunk, and waiting would cost more than the work. */
async function* atOnce<Result>(
  values: Iterable<LogValue>,
  work: (chunk: LogChunk) => Result,
): AsyncGenerator<Result[]> {
  const done: Result[] = [];
  for (const value of values) done.push(work({ value }));
  yield done;
}

const joinedBytes = (all: readonly Buffer[]): Buffer => (all.length === 1 && all[0] ? all[0] : Buffer.concat(all));

/** Does the work for the chunks of values, and joins what it comes to for the chunks of one value. */
async function* inSlices<Result>(
  values: Iterable<LogValue>,
  { work, join }: { work: (chunk: LogChunk) => Result; join: (ofChunks: readonly Result[]) => Result },
): AsyncGenerator<Result[]> {
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
