/** Schemes of the header `Authorization` that stand before a secret (RFC 9110, 11.6.2). Other first words are part of the secret. */
const SCHEME = /^(?:basic|bearer|token|api-?key|negotiate|digest|hmac)[ \t]+(\S.*)$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{4,}={0,2}$/;

/** A text in Base64, undefined when it is none or has control characters, as the bytes of a random token have. */
function decodedText(token: string): string | undefined {
  if (!BASE64.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64');
  if (bytes.toString('base64url') !== token.replace(/[+/=]/g, (char) => ({ '+': '-', '/': '_' })[char] ?? '')) {
    return undefined;
  }
  const text = bytes.toString('utf8').includes('\uFFFD') ? bytes.toString('latin1') : bytes.toString('utf8');
  return /\p{Cc}/u.test(text) ? undefined : text;
}

/**
 * What else gives a credential away: of `Bearer x` the token alone, of `Basic x` and of a bare `x` the user name with its password, and the
 * password alone (RFC 7617). Empty for other secrets.
 */
export function credentialParts(secret: string): string[] {
  const token = SCHEME.exec(secret.trim())?.[1] ?? secret.trim();
  const parts = token === secret.trim() ? [] : [token];
  const login = decodedText(token);
  const colon = login?.indexOf(':') ?? -1;
  return login === undefined || colon < 0 ? parts : [...parts, login, login.slice(colon + 1)];
}
