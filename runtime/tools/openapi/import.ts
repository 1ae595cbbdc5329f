import type { ImportedEndpoint, ImportedParameter } from '../../../db/stored/importedEndpoint.ts';
import { contentOf } from './content.ts';
import { BadDocument, type Fields, isFields, type Located } from './document.ts';
import type { DocumentFault, ImportRequest, ImportResult } from './importRequest.ts';
import { inputsOf, nameInputs } from './inputs.ts';
import { type Candidate, candidateOf, candidatesOf } from './operations.ts';
import { readParameters } from './parameters.ts';
import { partsOfPath } from './paths.ts';
import { serverOf } from './servers.ts';
import { asOpenApi3, isSwagger2, serversOfSwagger2 } from './swagger2.ts';
import { operationText } from './texts.ts';

/** Characters of what a model reads of an operation. */
const MAX_DESCRIPTION = 700;

function importEndpoint(
  document: Fields,
  candidate: Candidate,
  shared: string,
  request: ImportRequest,
): ImportedEndpoint {
  const { name, method, item, operation } = candidate;
  const own = serversOf(candidate);
  const server = own ? serverOf(own.value, request.baseUrl, addressOf(request), own.steps) : shared;
  const parts = partsOfPath(candidate.path);
  const body = contentOf(document, operation);
  const parameters = nameInputs(readParameters(document, parts, item, operation, request.authHeader), body !== null);
  const inputSchema = inputsOf(document, operation, parameters, body);
  return {
    operationId: name,
    description: operationText(operation.value, MAX_DESCRIPTION),
    method: method.toUpperCase(),
    server,
    path: parts.path,
    parameters: parameters.map(
      ({ input, name: own, in: where, style, explode, allowReserved, fixed }): ImportedParameter => ({
        input,
        name: own,
        in: where,
        style,
        explode,
        ...(allowReserved ? { allowReserved } : {}),
        ...(fixed === undefined ? {} : { fixed }),
      }),
    ),
    bodyType: body?.type ?? null,
    ...(body && Object.keys(body.fields).length > 0 ? { bodyFields: body.fields } : {}),
    inputSchema,
  };
}

/** What has servers that hold for an operation alone: itself, or its path. Undefined: those of the document hold. */
function serversOf({ operation, item }: Candidate): Located<Fields> | undefined {
  return [operation, item].find(({ value }) => Array.isArray(value.servers) && value.servers.length > 0);
}

const addressOf = ({ source }: ImportRequest) => ('address' in source ? source.address : undefined);

/** Reads the requested operations from a parsed document. Nothing else of it is looked at. */
export function importEndpoints(document: unknown, request: ImportRequest): ImportResult {
  const faults: DocumentFault[] = [];
  const endpoints: ImportedEndpoint[] = [];
  const note = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof BadDocument)) throw error;
      faults.push(error.fault);
    }
  };
  if (!isFields(document))
    return { endpoints, faults: [{ field: 'openapi', steps: [], message: 'must be an OpenAPI document' }] };
  const isOld = isSwagger2(document);
  if (!isOld && !/^3(?:\.\d+|$)/.test(String(document.openapi))) {
    const message = 'must be version 3 of OpenAPI, or Swagger 2.0';
    return { endpoints, faults: [{ field: 'openapi', steps: ['openapi'], message }] };
  }
  const candidates = candidatesOf(document);
  const found = request.wanted.map((wanted) => candidateOf(candidates, wanted));
  let server = '';
  note(() => {
    if (found.length > 0 && found.every((each) => typeof each !== 'string' && serversOf(each))) return;
    const described = isOld ? { servers: serversOfSwagger2(document) } : document;
    server = serverOf(described, request.baseUrl, addressOf(request));
  });
  const picked = new Set<Candidate>();
  for (const [index, candidate] of found.entries()) {
    if (typeof candidate === 'string' || picked.has(candidate)) {
      const message = typeof candidate === 'string' ? candidate : 'is an operation that the list has already';
      faults.push({ field: 'operations', steps: [index], message });
      continue;
    }
    picked.add(candidate);
    note(() => {
      const described = isOld ? asOpenApi3(document, candidate) : candidate;
      endpoints.push(importEndpoint(document, described, server, request));
    });
  }
  return { endpoints, faults };
}
