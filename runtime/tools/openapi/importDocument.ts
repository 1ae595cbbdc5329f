import { guardedFetch, type OutgoingCaller, OutgoingFailed, OutgoingRefused } from '../../../core/outgoing.ts';
import { Places, PlacesTaken } from '../../../core/places.ts';
import { ThreadStopped } from '../../../core/thread.ts';
import { MAX_DOCUMENT_BYTES } from './documentText.ts';
import type { ImportRequest, ImportResult } from './importRequest.ts';
import { busy, readers, whenBusy } from './readers.ts';

const FETCH_LIMITS = { timeoutMs: 20_000, maxBytes: MAX_DOCUMENT_BYTES };
/**
 * Documents of one workspace that are in memory at a time, until they are read: a slow server could have many of them held there. Workspaces do not
 * wait for each other.
 */
const fetched = new Places({ atOnce: Number.MAX_SAFE_INTEGER, ofOne: 2, waitingOfOne: 16 });

function refused(message: string): ImportResult {
  return { endpoints: [], faults: [{ field: 'openapi', steps: [], message }] };
}

/** Imports in a thread. Throws RATE_LIMITED when too many documents wait. */
async function read(workspaceId: string | null, request: ImportRequest): Promise<ImportResult> {
  try {
    return (await readers.run(workspaceId ?? '', request)) as ImportResult;
  } catch (error) {
    whenBusy(error);
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
export async function importDocument({ openapi, ...request }: DocumentRequest): Promise<ImportResult> {
  const { allowPrivateNetwork, workspaceId, ...asked } = request;
  if (typeof openapi !== 'string') return read(workspaceId, { ...asked, source: { document: openapi } });
  try {
    return await fetched.run(workspaceId ?? '', () => fetchAndRead(openapi, request));
  } catch (error) {
    if (error instanceof PlacesTaken) throw busy(error.message);
    if (error instanceof OutgoingRefused || error instanceof OutgoingFailed) return refused(error.message);
    throw error;
  }
}

async function fetchAndRead(
  address: string,
  { allowPrivateNetwork, workspaceId, ...request }: Omit<DocumentRequest, 'openapi'>,
): Promise<ImportResult> {
  const { status, body, url } = await guardedFetch(address, {
    ...FETCH_LIMITS,
    allowPrivateNetwork,
    workspaceId,
    accept: 'application/json, application/yaml;q=0.9, */*;q=0.5',
  });
  if (status !== 200) return refused(`must lead to a document: the server answered ${status}`);
  return read(workspaceId, { ...request, source: { bytes: body, address: url } });
}
