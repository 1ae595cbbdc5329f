/**
 * Whether a refusal says that the server wants a login by OAuth: a challenge with the address of protected resource metadata, a scope, or
 * the error of an invalid token or a scope that is too small
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#protected-resource-metadata-discovery-requirements,
 * RFC 9728 section 5.1, RFC 6750 section 3). A challenge without any of these is what servers with plain tokens send, too.
 */
export function asksForOAuth(status: number, headers: Pick<Headers, 'get'>): boolean {
  const challenge = headers.get('www-authenticate') ?? '';
  if (status === 401)
    return /\bresource_metadata\s*=|\bscope\s*=/i.test(challenge) || /\berror\s*=\s*"?invalid_token/i.test(challenge);
  return status === 403 && /\binsufficient_scope\b/i.test(challenge);
}

/** Where a server without a challenge publishes its metadata (RFC 9728 section 3.1): below the address's path, and at the root. */
export function metadataUrls(address: string): string[] {
  const { origin, pathname } = new URL(address);
  const path = pathname.replace(/\/+$/, '');
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return path === '' ? [root] : [`${root}${path}`, root];
}

/** Whether a text is the metadata of a resource that OAuth protects. */
export function isResourceMetadata(text: string): boolean {
  try {
    const { authorization_servers: servers } = Object(JSON.parse(text)) as { authorization_servers?: unknown };
    return Array.isArray(servers) && servers.length > 0;
  } catch {
    return false;
  }
}
