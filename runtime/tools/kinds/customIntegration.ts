import type { ErrorDetail } from '../../../core/errors.ts';
import { below, checkShape, faultAt } from '../configuration/faults.ts';
import type { ImportedOperation } from '../openapi/endpoint.ts';
import { importDocument } from '../openapi/importDocument.ts';
import { serverFault } from '../openapi/servers.ts';
import { isHeaderValue } from '../request/requestParts.ts';
import type { CustomIntegrationConfiguration } from '../tool.ts';
import { headerNameFault } from './httpRequest.ts';

/** Characters of JSON of a document that stands in the configuration: every answer with the tool carries it. */
const MAX_DOCUMENT_CHARS = 524_288;

const SHAPE = {
  type: 'object',
  required: ['openapi', 'operations'],
  additionalProperties: false,
  properties: {
    openapi: { type: ['object', 'string'], maxLength: 2048 },
    baseUrl: { type: 'string', minLength: 1, maxLength: 2048 },
    operations: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      items: { type: 'string', minLength: 1, maxLength: 200 },
    },
    auth: {
      type: 'object',
      additionalProperties: false,
      properties: {
        type: { type: 'string', enum: ['none', 'bearer', 'header'] },
        headerName: { type: 'string', minLength: 1, maxLength: 200 },
        secret: { type: 'string', minLength: 1, maxLength: 8192 },
      },
    },
  },
};

function authFaults(auth: NonNullable<CustomIntegrationConfiguration['auth']>, path: string): ErrorDetail[] {
  const { type = 'none', headerName, secret } = auth;
  const faults: ErrorDetail[] = [];
  if (type === 'none' && secret !== undefined)
    faults.push(faultAt(below(path, 'secret'), 'goes with the type bearer or header'));
  if (type !== 'none' && secret === undefined) faults.push(faultAt(below(path, 'secret'), 'is required', 'required'));
  if (type !== 'header' && headerName !== undefined)
    faults.push(faultAt(below(path, 'headerName'), 'goes with the type header'));
  if (type === 'header' && headerName === undefined)
    faults.push(faultAt(below(path, 'headerName'), 'is required', 'required'));
  if (type === 'header' && headerName !== undefined)
    faults.push(...headerNameFault(headerName, below(path, 'headerName')));
  if (secret !== undefined && !isHeaderValue(secret)) {
    faults.push(faultAt(below(path, 'secret'), 'must not have line breaks or control characters', 'format'));
  }
  return faults;
}

function documentFaults(openapi: CustomIntegrationConfiguration['openapi'], path: string): ErrorDetail[] {
  if (typeof openapi === 'string') {
    const url = URL.parse(openapi);
    if (url?.protocol !== 'https:') return [faultAt(path, 'must be a document, or an https address', 'format')];
    const open = url.username === '' && url.password === '';
    return open ? [] : [faultAt(path, 'must not have a user name or password', 'credentials')];
  }
  if (JSON.stringify(openapi).length <= MAX_DOCUMENT_CHARS) return [];
  return [
    faultAt(path, `must not have more than ${MAX_DOCUMENT_CHARS} characters as JSON: give its address`, 'maxLength'),
  ];
}

/** What is wrong with the configuration of a CUSTOM_INTEGRATION, and when nothing is, the operations that it imports. */
export async function customIntegrationFaults(
  configuration: Record<string, unknown>,
  path: string,
  allowPrivateNetwork: boolean,
): Promise<{ faults: ErrorDetail[]; operations: ImportedOperation[] }> {
  const { faults, sound } = checkShape<CustomIntegrationConfiguration>(SHAPE, configuration, path);
  const { openapi, baseUrl, operations: wanted, auth } = sound;
  if (openapi !== undefined) faults.push(...documentFaults(openapi, below(path, 'openapi')));
  const wrongServer = baseUrl === undefined ? undefined : serverFault(baseUrl);
  if (wrongServer !== undefined) faults.push(faultAt(below(path, 'baseUrl'), wrongServer, 'format'));
  if (auth !== undefined) faults.push(...authFaults(auth, below(path, 'auth')));
  // A document is fetched only for a configuration that could work.
  if (faults.length > 0 || openapi === undefined || wanted === undefined) return { faults, operations: [] };
  const authHeader = auth?.type === 'header' ? auth.headerName : undefined;
  const imported = await importDocument({ openapi, baseUrl, wanted, authHeader, allowPrivateNetwork });
  return {
    faults: imported.faults.map(({ field, steps, message }) => {
      // Behind an address there is no place in the request: the way goes into the words.
      const inside = field === 'openapi' && typeof openapi === 'string' && steps.length > 0;
      const where = below(path, field, ...(inside ? [] : steps));
      return faultAt(where, inside ? `${below('#', ...steps)} ${message}` : message, 'openapi');
    }),
    operations: imported.operations,
  };
}
