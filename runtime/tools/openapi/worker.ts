import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { adoptThreadPriority } from '../../../core/threadPriority.ts';
import { readApiDocument } from './documentText.ts';
import { importEndpoints } from './import.ts';
import type { ImportRequest, ImportResult } from './importRequest.ts';
import { type ShrinkRequest, shrinkBody } from './shrink.ts';

function refused(message: string): ImportResult {
  return { endpoints: [], faults: [{ field: 'openapi', steps: [], message }] };
}

async function run(request: ImportRequest): Promise<ImportResult> {
  const { source } = request;
  const read = 'document' in source ? { value: source.document } : await readApiDocument(source.bytes);
  if ('problem' in read) return refused(read.problem);
  try {
    return importEndpoints(read.value, request);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refused('must not nest that deeply');
  }
}

adoptThreadPriority();
parentPort?.on('message', async (request: ImportRequest | ShrinkRequest) => {
  parentPort?.postMessage(
    'file' in request ? shrinkBody(readFileSync(request.file), request.limit) : await run(request),
  );
});
parentPort?.postMessage('ready');
