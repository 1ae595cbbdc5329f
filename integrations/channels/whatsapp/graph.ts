import { callProvider, type ProviderAnswer, settingOf, withoutSecrets } from '../call.ts';
import { asLine, asObject, type Payload } from '../payload.ts';
import { type ChannelAccount, SendFailed, type SendOutcome } from '../provider.ts';
import { accountProblem, codeOf, errorText, isPassing } from './account.ts';

/** Ids in an address: of a phone number, of a file. */
const ID = /^[\w-]{1,200}$/;

/** A call of the Graph API for an account. */
export interface GraphCall {
  baseUrl: string;
  account: ChannelAccount;
  method: 'GET' | 'POST';
  /** Below the version, without a slash at its beginning. */
  path: string;
  body?: unknown;
  signal: AbortSignal;
}

/** Calls the Graph API with the token of the account. Throws SendFailed, or the signal's reason. */
export async function callGraph({ baseUrl, account, path, ...call }: GraphCall): Promise<ProviderAnswer> {
  return callProvider({
    ...call,
    provider: 'WhatsApp',
    url: `${baseUrl}/${path}`,
    headers: { Authorization: `Bearer ${settingOf(account.credentials, 'accessToken')}` },
  });
}

/** The phone number id of the account, fit for an address; '' when the configuration has none. */
export function phoneNumberIdOf(account: ChannelAccount): string {
  const id = settingOf(account.config, 'phoneNumberId');
  return ID.test(id) ? id : '';
}

/** The id of a file as part of an address. Throws when it is none. */
export function mediaIdOf(reference: string): string {
  if (!ID.test(reference)) throw new Error('The file has no valid id.');
  return reference;
}

/** The gateway gave up waiting: what was behind it may have sent the message. */
const GATEWAY_TIMEOUT = 504;

/**
 * Reads an answer that refuses. Throws SendFailed for what passes: overload, rate limits, faults of the API itself. Everything else
 * would be refused again.
 */
export function readRefusal(
  { status, body }: ProviderAnswer,
  account: ChannelAccount,
): SendOutcome & { kind: 'refused' } {
  const error: Payload = asObject(body.error);
  const words = withoutSecrets(errorText(error), account);
  const code = codeOf(error);
  const problem = accountProblem(error);
  const isOverloaded = status >= 500 || status === 429 || status === 408;
  if (isPassing(error) || (problem === null && isOverloaded)) {
    const number = Number.isNaN(code) ? `HTTP ${status}` : String(code);
    throw new SendFailed(`WhatsApp does not take the message now (${number}): ${words}`, status === GATEWAY_TIMEOUT);
  }
  const refused = { kind: 'refused' as const, code: asLine(error.code, 20) || `HTTP_${status}`, message: words };
  if (problem !== null) return { ...refused, problem };
  return status === 401 ? { ...refused, problem: 'TOKEN_EXPIRED' } : refused;
}
