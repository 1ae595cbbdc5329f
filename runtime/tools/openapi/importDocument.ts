import { Worker } from 'node:worker_threads';
import { guardedFetch, type OutgoingCaller, OutgoingFailed, OutgoingRefused } from '../../../core/outgoing.ts';
import type { ImportRequest, ImportResult } from './importRequest.ts';

const FETCH_LIMITS = { timeoutMs: 20_000, maxBytes: 5 * 1024 * 1024 };
const IMPORT_LIMIT_MS = 15_000;
/** Megabytes of heap for reading a document: about twenty times the largest text. */
const HEAP_MB = 256;
/** Documents that are read at the same time; others wait in a queue. */
const MAX_AT_ONCE = 2;

function refused(message: string): ImportResult {
  return { endpoints: [], faults: [{ field: 'openapi', steps: [], message }] };
}

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The next import takes this slot, so `running` stays as it is.
    if (next) next();
    else running -= 1;
  }
}

/** Imports in a worker thread, so that no document can block or exhaust the service. */
function inThread(request: ImportRequest): Promise<ImportResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: request,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32 },
    });
    const timer = setTimeout(() => end(() => resolve(refused('takes too long to read'))), IMPORT_LIMIT_MS);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
      void worker.terminate();
    };
    worker.once('message', (imported: ImportResult) => end(() => resolve(imported)));
    worker.once('error', (error: NodeJS.ErrnoException) =>
      end(() => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(refused('is too large to read'));
        else reject(error);
      }),
    );
    worker.once('exit', (code) => end(() => reject(new Error(`The import ended with ${code} before it answered.`))));
  });
}

/** The request to import endpoints from a document that may still have to be fetched. */
export type DocumentRequest = Omit<ImportRequest, 'source'> &
  OutgoingCaller & { openapi: string | Record<string, unknown> };

/** Imports endpoints of an OpenAPI document, fetched through the guarded client when it is an address. Faults are in the result. */
export async function importDocument({
  openapi,
  allowPrivateNetwork,
  workspaceId,
  ...request
}: DocumentRequest): Promise<ImportResult> {
  if (typeof openapi !== 'string') return inTurn(() => inThread({ ...request, source: { document: openapi } }));
  try {
    const { status, body, url } = await guardedFetch(openapi, {
      ...FETCH_LIMITS,
      allowPrivateNetwork,
      workspaceId,
      accept: 'application/json, application/yaml;q=0.9, */*;q=0.5',
    });
    if (status !== 200) return refused(`must lead to a document: the server answered ${status}`);
    const text = body.toString('utf8').replace(/^\uFEFF/, '');
    return await inTurn(() => inThread({ ...request, source: { text, address: url } }));
  } catch (error) {
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) return refused(error.message);
    throw error;
  }
}
