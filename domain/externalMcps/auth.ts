import { type ApiError, fault, invalid } from '../../core/errors.ts';
import { isOwnedByHttp } from '../../core/outgoing.ts';
import type { components } from '../../generated/api.ts';
import type { McpAuthType, McpCredential } from '../../runtime/mcp/credential.ts';

type Fields = Pick<
  components['schemas']['ExternalMcpUpdate'],
  'authType' | 'authValue' | 'authHeaders' | 'authHeaderName'
>;

/** How the service authenticates to a server. */
export interface ServerAuth {
  authType: McpAuthType;
  /** Set when CUSTOM_HEADER is one name and one value, and when API_KEY names its header. */
  headerName: string | null;
  credential: McpCredential | null;
}

/** The authentication of a server before a change. */
export interface PresentAuth {
  authType: McpAuthType;
  headerName: string | null;
  /** The stored credential; null when there is none, when it cannot be read, or when it must not be sent to the new address. */
  stored(): McpCredential | null;
  /** A sentence for the refusal of a credential that is missing: why the stored one is none. */
  withheld?: string | undefined;
}

/** Headers that MCP's transport sets itself: a credential there would break the connection. */
const OF_TRANSPORT = /^(accept|content-type|last-event-id|mcp-session-id|mcp-protocol-version)$/i;

function checkHeaderName(name: string, path: string): void {
  if (isOwnedByHttp(name) || OF_TRANSPORT.test(name)) {
    throw invalid(path, `${name} is set by the service itself and cannot carry a credential.`);
  }
}

function checkValue(value: string, path: string): void {
  if (value.trim() === '') throw invalid(path, 'The value must not be blank.');
}

function checkHeaders(headers: { name: string; value: string }[]): void {
  const names = new Set<string>();
  for (const [index, { name, value }] of headers.entries()) {
    const path = `/body/authHeaders/${index}`;
    checkHeaderName(name, `${path}/name`);
    checkValue(value, `${path}/value`);
    if (names.has(name.toLowerCase())) throw invalid(`${path}/name`, 'The header is listed twice.');
    names.add(name.toLowerCase());
  }
}

/** The headers of a body; null and an empty list are none: generated clients send them for a field that nobody has set. */
function headersOf({ authHeaders }: Fields): { name: string; value: string }[] | undefined {
  return authHeaders?.length ? authHeaders : undefined;
}

function rejectUnused(fields: Fields, authType: string, names: readonly (keyof Fields)[]): void {
  for (const name of names) {
    if ((name === 'authHeaders' ? headersOf(fields) : fields[name]) != null)
      throw invalid(`/body/${name}`, `The authType ${authType} does not use it.`);
  }
}

function customHeaders(fields: Fields, present: PresentAuth | undefined, storedValue: string | undefined): ServerAuth {
  const { authHeaderName, authValue } = fields;
  const authHeaders = headersOf(fields);
  const authType = 'CUSTOM_HEADER';
  if (authHeaders !== undefined) {
    const both = 'Send either authHeaders, or authHeaderName and authValue.';
    if (authHeaderName != null) throw invalid('/body/authHeaderName', both);
    if (authValue !== undefined) throw invalid('/body/authValue', both);
    checkHeaders(authHeaders);
    return { authType, headerName: null, credential: { headers: authHeaders } };
  }
  const headerName = (authHeaderName === undefined ? present?.headerName : authHeaderName) ?? null;
  if (headerName === null) {
    if (authValue !== undefined) throw invalid('/body/authHeaderName', 'Name the header of the value.', 'required');
    const kept = present?.stored();
    if (!kept || !('headers' in kept)) throw missing('/body/authHeaders', 'CUSTOM_HEADER needs headers.', present);
    return { authType, headerName, credential: kept };
  }
  checkHeaderName(headerName, '/body/authHeaderName');
  const value = authValue ?? storedValue;
  if (value === undefined) throw missing('/body/authValue', 'The header needs a value.', present);
  checkValue(value, '/body/authValue');
  return { authType, headerName, credential: { value } };
}

/**
 * How the service authenticates to a server after a request. Fields that the body leaves out keep what the server has. Throws
 * OAUTH_NOT_SUPPORTED_VIA_API, and VALIDATION_ERROR for a credential that is missing, that the type does not use, or that cannot be sent.
 */
export function decideAuth(fields: Fields, present?: PresentAuth): ServerAuth {
  const authType = fields.authType ?? present?.authType ?? 'NONE';
  switch (authType) {
    case 'OAUTH_AUTHORIZATION_CODE':
      throw fault('OAUTH_NOT_SUPPORTED_VIA_API');
    case 'NONE':
      rejectUnused(fields, authType, ['authValue', 'authHeaders', 'authHeaderName']);
      return { authType, headerName: null, credential: null };
    case 'API_KEY': {
      rejectUnused(fields, authType, ['authHeaders']);
      const kept = present?.authType === 'API_KEY' ? present.headerName : null;
      const headerName = fields.authHeaderName === undefined ? kept : fields.authHeaderName;
      if (headerName !== null) checkHeaderName(headerName, '/body/authHeaderName');
      return { authType, headerName, credential: oneValue(fields, authType, present) };
    }
    case 'BEARER_TOKEN':
      rejectUnused(fields, authType, ['authHeaders', 'authHeaderName']);
      return { authType, headerName: null, credential: oneValue(fields, authType, present) };
    case 'CUSTOM_HEADER':
      return customHeaders(fields, present, storedValueOf(present));
  }
}

function oneValue(fields: Fields, authType: string, present: PresentAuth | undefined): McpCredential {
  const value = fields.authValue ?? storedValueOf(present);
  if (value === undefined) throw missing('/body/authValue', `${authType} needs a credential.`, present);
  checkValue(value, '/body/authValue');
  return { value };
}

function missing(path: string, message: string, present: PresentAuth | undefined): ApiError {
  return invalid(path, [message, present?.withheld ?? ''].join(' ').trim(), 'required');
}

function storedValueOf(present: PresentAuth | undefined): string | undefined {
  const stored = present?.stored() ?? null;
  return stored !== null && 'value' in stored ? stored.value : undefined;
}

/** Whether a change affects the authentication. A value in the body always counts as a new one. */
export function changesAuth(fields: Fields, present: Omit<PresentAuth, 'stored'>): boolean {
  const { authType = present.authType, authHeaderName = present.headerName, authValue } = fields;
  return (
    authType !== present.authType ||
    authHeaderName !== present.headerName ||
    authValue !== undefined ||
    headersOf(fields) !== undefined
  );
}

/** Throws VALIDATION_ERROR for an address that can never be called. Where the host leads is checked at each call. */
export function checkServerUrl(url: string): void {
  const parsed = URL.parse(url);
  if (parsed === null) throw invalid('/body/url', 'The address is not a valid URL.');
  if (parsed.username !== '' || parsed.password !== '') {
    throw invalid('/body/url', 'The address must not carry a user name or password. Send the credential in a header.');
  }
}
