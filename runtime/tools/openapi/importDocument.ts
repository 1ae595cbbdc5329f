import { availableParallelism } from 'node:os';
import { fault } from '../../../core/errors.ts';
import { guardedFetch, type OutgoingCaller, OutgoingFailed, OutgoingRefused } from '../../../core/outgoing.ts';
import { ThreadStopped } from '../../../core/thread.ts';
import { ThreadLanes } from '../../../core/threadLanes.ts';
import { PoolBusy } from '../../../core/threadPool.ts';
import type { ImportRequest, ImportResult } from './importRequest.ts';

const FETCH_LIMITS = { timeoutMs: 20_000, maxBytes: 5 * 1024 * 1024 };
/** The heap of a thread is about twenty times the largest text. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Seconds after which a caller may try again when too many documents wait. */
const BUSY_SECONDS = 5;

/** The threads of this process that read documents: no document can block or exhaust the service, or stop those of other workspaces. */
const readers = new ThreadLanes<ImportRequest, ImportResult>({
  script: new URL('./worker.ts', import.meta.url),
  limits: HEAP,
  keptMs: 10_000,
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  // A usual document takes less than a tenth of this.
  firstMs: 1_000,
  slowThreads: 1,
  waitingOfOne: 8,
  waitingOfAll: 64,
  limitMs: 15_000,
});

function refused(message: string): ImportResult {
  return { endpoints: [], faults: [{ field: 'openapi', steps: [], message }] };
}

/** Imports in a thread. Throws RATE_LIMITED when too many documents wait. */
async function read(workspaceId: string | null, request: ImportRequest): Promise<ImportResult> {
  try {
    return await readers.run(workspaceId ?? '', request);
  } catch (error) {
    if (error instanceof PoolBusy) {
      const headers = { 'Retry-After': String(BUSY_SECONDS) };
      throw fault('RATE_LIMITED', `The import of OpenAPI documents is busy: ${error.message}`, { headers });
    }
    // The copy for the thread is made by recursion.
    if (Error.isError(error) && error.name === 'RangeError') return refused('must not nest that deeply');
    if (!(error instanceof ThreadStopped) || error.reason === 'ended') throw error;
    return refused(error.reason === 'late' ? 'takes too long to read' : 'is too large to read');
  }
}

/** The request to import endpoints from a document that may still have to be fetched. */
export type DocumentRequest = Omit<ImportRequest, 'source'> &
  OutgoingCaller & { openapi: string | Record<string, unknown> };

/**
 * Imports endpoints of an OpenAPI document, fetched through the guarded client when it is an address. Faults are in the result. Throws
 * RATE_LIMITED when too many documents wait.
 */
export async function importDocument({
  openapi,
  allowPrivateNetwork,
  workspaceId,
  ...request
}: DocumentRequest): Promise<ImportResult> {
  if (typeof openapi !== 'string') return read(workspaceId, { ...request, source: { document: openapi } });
  try {
    const { status, body, url } = await guardedFetch(openapi, {
      ...FETCH_LIMITS,
      allowPrivateNetwork,
      workspaceId,
      accept: 'application/json, application/yaml;q=0.9, */*;q=0.5',
    });
    if (status !== 200) return refused(`must lead to a document: the server answered ${status}`);
    const text = body.toString('utf8').replace(/^\uFEFF/, '');
    return await read(workspaceId, { ...request, source: { text, address: url } });
  } catch (error) {
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) return refused(error.message);
    throw error;
  }
}
