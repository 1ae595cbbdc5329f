import type { ErrorDetail } from '../../../core/errors.ts';
import { below, faultAt } from '../../../core/faults.ts';
import type { CheckedForm } from '../../../core/namedSchemas.ts';
import type { ImportedEndpoint } from '../../../db/stored/importedEndpoint.ts';
import type { components } from '../../../generated/api.ts';
import { fitInputs } from '../configuration/fitInputs.ts';
import { ToolFailure } from '../failure.ts';
import { requestOf } from '../openapi/call.ts';
import { importDocument } from '../openapi/importDocument.ts';
import { serverFault } from '../openapi/servers.ts';
import { headerNameFault, headerValue, isHeaderValue } from '../request/headers.ts';
import { callHttp } from '../request/httpCall.ts';
import { DEFAULT_TIMEOUT_SECONDS, type ToolOutcome } from '../tool.ts';
import type { CheckOptions, ToolKind, ToolRun } from './kind.ts';

type CustomIntegrationConfiguration = components['schemas']['CustomIntegrationConfiguration'];

function authFaults(auth: components['schemas']['CustomIntegrationAuth'], path: string): ErrorDetail[] {
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

function addressFaults(address: string, path: string): ErrorDetail[] {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return [faultAt(path, 'must be a document, or an https address', 'format')];
  const hasCredentials = url.username !== '' || url.password !== '';
  return hasCredentials ? [faultAt(path, 'must not have a user name or password', 'credentials')] : [];
}

async function checkIntegration(
  { faults: wrong, sound }: CheckedForm<CustomIntegrationConfiguration>,
  path: string,
  options: CheckOptions,
): Promise<{ faults: ErrorDetail[]; endpoints: ImportedEndpoint[] }> {
  const faults = [...wrong];
  const { baseUrl, operations: wanted, auth } = sound;
  // The schema states that it is one of the two, which generated types cannot say.
  const openapi = sound.openapi as string | Record<string, unknown> | undefined;
  if (typeof openapi === 'string') faults.push(...addressFaults(openapi, below(path, 'openapi')));
  const serverProblem = baseUrl === undefined ? undefined : serverFault(baseUrl);
  if (serverProblem !== undefined) faults.push(faultAt(below(path, 'baseUrl'), serverProblem, 'format'));
  if (auth !== undefined) faults.push(...authFaults(auth, below(path, 'auth')));
  // A document is fetched only for a configuration that could work.
  if (faults.length > 0 || openapi === undefined || wanted === undefined) return { faults, endpoints: [] };
  const authHeader = auth?.type === 'header' ? auth.headerName : undefined;
  const imported = await importDocument({ openapi, baseUrl, wanted, authHeader, ...options });
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
  const { headers, ...request } = requestOf(endpoint, await fitInputs(endpoint.inputSchema, inputs, run));
  const { type = 'none', headerName = 'authorization', secret = '' } = run.configuration.auth ?? {};
  if (type !== 'none') headers[headerName] = headerValue(type === 'bearer' ? `Bearer ${secret}` : secret);
  return callHttp({
    ...request,
    headers,
    secretHeaders: [headerName],
    timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    allowPrivateNetwork: run.context.runtime.allowPrivateNetwork,
    workspaceId: run.context.workspaceId,
    signal: run.signal,
  });
}

/** Calls endpoints of an API that an OpenAPI document describes. They are imported when the configuration is stored. */
export const customIntegration: ToolKind<CustomIntegrationConfiguration> = {
  secretPaths: [['auth', 'secret']],
  check: checkIntegration,
  origins: ({ endpoints }) => [...new Set(endpoints.map(({ server }) => new URL(server).origin))],
  functions: ({ name, endpoints }) =>
    endpoints.map(({ operationId, description, inputSchema, method, path }) => ({
      operationId,
      description,
      fallbackDescription: `${method} ${path} of “${name}”.`,
      inputSchema,
    })),
  run: runIntegration,
};
