import { Worker } from 'node:worker_threads';
import { guardedFetch, OutgoingFailed, OutgoingRefused } from '../../../core/outgoing.ts';
import type { Imported, ImportOrder } from './endpoint.ts';

const FETCH_LIMITS = { timeoutMs: 20_000, maxBytes: 5 * 1024 * 1024 };
const IMPORT_LIMIT_MS = 15_000;
/** Megabytes of heap for reading a document: some twenty times the largest text. */
const HEAP_MB = 256;
/** Documents that are read at the same time; others wait. */
const AT_ONCE = 2;

function refused(message: string): Imported {
  return { operations: [], faults: [{ field: 'openapi', steps: [], message }] };
}

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The next one takes this place over.
    if (next) next();
    else running -= 1;
  }
}

/** In a thread of its own, so that no document can hold up or exhaust the service. */
function inThread(order: ImportOrder): Promise<Imported> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: order,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32 },
    });
    const timer = setTimeout(() => end(() => resolve(refused('takes too long to read'))), IMPORT_LIMIT_MS);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
      void worker.terminate();
    };
    worker.once('message', (imported: Imported) => end(() => resolve(imported)));
    worker.once('error', (error: NodeJS.ErrnoException) =>
      end(() => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(refused('is too large to read'));
        else reject(error);
      }),
    );
    worker.once('exit', (code) => end(() => reject(new Error(`The import ended with ${code} before it answered.`))));
  });
}

/** What is to be imported, the document still at its address when it is one. */
export type DocumentOrder = Omit<ImportOrder, 'source'> & {
  openapi: string | Record<string, unknown>;
  allowPrivateNetwork: boolean;
};

/** Imports operations of an OpenAPI document, fetched through the guarded client when it is an address. What is wrong is in the answer. */
export async function importDocument({ openapi, allowPrivateNetwork, ...order }: DocumentOrder): Promise<Imported> {
  if (typeof openapi !== 'string') return inTurn(() => inThread({ ...order, source: { document: openapi } }));
  try {
    const { status, body, url } = await guardedFetch(openapi, {
      ...FETCH_LIMITS,
      allowPrivateNetwork,
      accept: 'application/json, application/yaml;q=0.9, */*;q=0.5',
    });
    if (status !== 200) return refused(`must lead to a document: the server answered ${status}`);
    const text = body.toString('utf8').replace(/^\uFEFF/, '');
    return await inTurn(() => inThread({ ...order, source: { text, address: url } }));
  } catch (error) {
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) return refused(error.message);
    throw error;
  }
}
