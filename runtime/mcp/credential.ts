import type { Selectable } from 'kysely';
import type { SecretBox } from '../../core/secrets.ts';
import type { ExternalMcps } from '../../generated/db.ts';

/** How the service authenticates to a server. */
export type McpAuthType = Selectable<ExternalMcps>['auth_type'];

/** The credential, which is stored sealed: one value, or headers that the tenant chose. */
export type McpCredential = { value: string } | { headers: { name: string; value: string }[] };

/** The columns that say how to reach a server. */
export type McpServerRow = Pick<
  Selectable<ExternalMcps>,
  'workspace_id' | 'id' | 'url' | 'auth_type' | 'auth_header_name' | 'credential' | 'config_version'
>;

const placeOf = (workspaceId: string, id: string) => ({
  workspaceId,
  table: 'external_mcps',
  rowId: id,
  column: 'credential',
});

/** Seals a credential for the row of a server. */
export function sealCredential(
  secrets: SecretBox,
  workspaceId: string,
  id: string,
  credential: McpCredential | null,
): Buffer | null {
  return credential && secrets.seal(JSON.stringify(credential), placeOf(workspaceId, id));
}

/** The credential of a server; null when it needs none. Throws SecretUnreadable. */
export function openCredential(
  secrets: SecretBox,
  { workspace_id, id, credential }: Pick<McpServerRow, 'workspace_id' | 'id' | 'credential'>,
): McpCredential | null {
  return credential && (JSON.parse(secrets.open(credential, placeOf(workspace_id, id))) as McpCredential);
}

/** The headers that authenticate the service to a server. Throws SecretUnreadable. */
export function credentialHeaders(secrets: SecretBox, server: McpServerRow): Record<string, string> {
  const credential = openCredential(secrets, server);
  if (credential === null) return {};
  if ('headers' in credential) return Object.fromEntries(credential.headers.map(({ name, value }) => [name, value]));
  const { value } = credential;
  switch (server.auth_type) {
    case 'API_KEY':
      return { [server.auth_header_name ?? 'X-Api-Key']: value };
    case 'BEARER_TOKEN':
      return { Authorization: `Bearer ${value}` };
    case 'CUSTOM_HEADER':
      return server.auth_header_name === null ? {} : { [server.auth_header_name]: value };
    case 'NONE':
      return {};
  }
}

/** The secret values of a credential. */
export function credentialValues(credential: McpCredential | null): string[] {
  if (credential === null) return [];
  return 'headers' in credential ? credential.headers.map(({ value }) => value) : [credential.value];
}
