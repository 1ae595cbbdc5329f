import type { ErrorDetail } from '../../../core/errors.ts';
import type { ImportedEndpoint } from '../../../db/stored/importedEndpoint.ts';
import { below, checkShape, faultAt } from '../configuration/faults.ts';
import { fitInputs } from '../configuration/inputSchema.ts';
import { ToolFailure } from '../failure.ts';
import { requestOf } from '../openapi/call.ts';
import { importDocument } from '../openapi/importDocument.ts';
import { serverFault } from '../openapi/servers.ts';
import { headerNameFault, headerValue, isHeaderValue } from '../request/headers.ts';
import { callHttp } from '../request/httpCall.ts';
import { DEFAULT_TIMEOUT_SECONDS, type ToolOutcome } from '../tool.ts';
import type { ToolKind, ToolRun } from './kind.ts';

/** Configuration of a CUSTOM_INTEGRATION. */
interface CustomIntegrationConfiguration {
  /** The document, or its https address. */
  openapi: Record<string, unknown> | string;
  baseUrl?: string;
  /** The operationIds to import. */
  operations: string[];
  auth?: { type?: 'none' | 'bearer' | 'header'; headerName?: string; secret?: string };
}

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
    const hasCredentials = url.username !== '' || url.password !== '';
    return hasCredentials ? [faultAt(path, 'must not have a user name or password', 'credentials')] : [];
  }
  if (JSON.stringify(openapi).length <= MAX_DOCUMENT_CHARS) return [];
  return [
    faultAt(path, `must not have more than ${MAX_DOCUMENT_CHARS} characters as JSON: give its address`, 'maxLength'),
  ];
}

async function checkIntegration(
  configuration: Record<string, unknown>,
  path: string,
  allowPrivateNetwork: boolean,
): Promise<{ faults: ErrorDetail[]; endpoints: ImportedEndpoint[] }> {
  const { faults, sound } = checkShape<CustomIntegrationConfiguration>(SHAPE, configuration, path);
  const { openapi, baseUrl, operations: wanted, auth } = sound;
  if (openapi !== undefined) faults.push(...documentFaults(openapi, below(path, 'openapi')));
  const serverProblem = baseUrl === undefined ? undefined : serverFault(baseUrl);
  if (serverProblem !== undefined) faults.push(faultAt(below(path, 'baseUrl'), serverProblem, 'format'));
  if (auth !== undefined) faults.push(...authFaults(auth, below(path, 'auth')));
  // A document is fetched only for a configuration that could work.
  if (faults.length > 0 || openapi === undefined || wanted === undefined) return { faults, endpoints: [] };
  const authHeader = auth?.type === 'header' ? auth.headerName : undefined;
  const imported = await importDocument({ openapi, baseUrl, wanted, authHeader, allowPrivateNetwork });
  return {
    faults: imported.faults.map(({ field, steps, message }) => {
      // A document behind an address has no place in the request: the message names the place in the document.
      const inside = field === 'openapi' && typeof openapi === 'string' && steps.length > 0;
      const where = below(path, field, ...(inside ? [] : steps));
      return faultAt(where, inside ? `${below('#', ...steps)} ${message}` : message, 'openapi');
    }),
    endpoints: imported.endpoints,
  };
}

/** The endpoint that the inputs name. Its name may be left out where there is only one. */
function endpointOf(endpoints: readonly ImportedEndpoint[], operationId: unknown): ImportedEndpoint {
  const names = endpoints.map((each) => each.operationId).join(', ');
  if (operationId === undefined && endpoints.length > 1) {
    throw new ToolFailure(`operationId is needed: one of ${names}.`);
  }
  const endpoint =
    operationId === undefined ? endpoints[0] : endpoints.find((each) => each.operationId === operationId);
  if (endpoint === undefined) throw new ToolFailure(`operationId must be one of ${names}.`);
  return endpoint;
}

async function runIntegration(run: ToolRun<CustomIntegrationConfiguration>): Promise<ToolOutcome> {
  const { operationId, ...inputs } = run.inputs;
  const endpoint = endpointOf(run.endpoints, operationId);
  const { headers, ...request } = requestOf(endpoint, fitInputs(endpoint.inputSchema, inputs));
  const { type = 'none', headerName = 'authorization', secret = '' } = run.configuration.auth ?? {};
  if (type !== 'none') headers[headerName] = headerValue(type === 'bearer' ? `Bearer ${secret}` : secret);
  return callHttp({
    ...request,
    headers,
    timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    allowPrivateNetwork: run.context.runtime.allowPrivateNetwork,
    signal: run.signal,
  });
}

/** Calls endpoints of an API that an OpenAPI document describes. They are imported when the configuration is stored. */
export const customIntegration: ToolKind<CustomIntegrationConfiguration> = {
  secretPaths: [['auth', 'secret']],
  check: (configuration, path, { allowPrivateNetwork }) => checkIntegration(configuration, path, allowPrivateNetwork),
  functions: ({ name, endpoints }) =>
    endpoints.map(({ operationId, description, inputSchema, method, path }) => ({
      operationId,
      description,
      fallbackDescription: `${method} ${path} of “${name}”.`,
      inputSchema,
    })),
  run: runIntegration,
};
