import { parentPort } from 'node:worker_threads';
import { adoptThreadPriority } from '../../../core/threadPriority.ts';
import { importEndpoints } from './import.ts';
import type { ImportRequest, ImportResult } from './importRequest.ts';

/** A document's text as a value; undefined when it is neither JSON nor YAML. */
async function read(text: string): Promise<unknown> {
  try {
    // YAML is nearly a superset of JSON, and much slower to read.
    if (/^\s*[[{]/.test(text)) return JSON.parse(text);
    const { parse } = await import('yaml');
    // Looking for keys that a map has twice takes quadratic time: 10,000 keys take seconds. The last one counts, as in JSON.
    return parse(text, { maxAliasCount: 100, uniqueKeys: false, logLevel: 'error' });
  } catch {
    return undefined;
  }
}

async function run(request: ImportRequest): Promise<ImportResult> {
  const { source } = request;
  const document = 'document' in source ? source.document : await read(source.text);
  if (document === undefined) {
    return {
      endpoints: [],
      faults: [{ field: 'openapi', steps: [], message: 'must be the address of a JSON or YAML document' }],
    };
  }
  try {
    return importEndpoints(document, request);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { endpoints: [], faults: [{ field: 'openapi', steps: [], message: 'must not nest that deeply' }] };
  }
}

adoptThreadPriority();
parentPort?.on('message', async (request: ImportRequest) => {
  parentPort?.postMessage(await run(request));
});
parentPort?.postMessage('ready');
