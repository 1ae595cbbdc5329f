import { asLine, asObject, type Payload } from '../payload.ts';
import type { ChannelAccount, ChannelProblemCode, InboundEvent } from '../provider.ts';
import { ignored } from './messages.ts';

/*
 * What is wrong with an account, by the codes of the Cloud API's errors (developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes)
 * and by the webhook `account_update` (…/webhooks/reference/account_update).
 */

/** Codes that stop every message until somebody acts. */
const PROBLEMS: ReadonlyMap<number, ChannelProblemCode> = new Map([
  [0, 'TOKEN_EXPIRED'],
  [190, 'TOKEN_EXPIRED'],
  [368, 'NUMBER_BANNED'],
  [131031, 'NUMBER_BANNED'],
  [33, 'DISCONNECTED'],
  [131045, 'DISCONNECTED'],
  [133010, 'DISCONNECTED'],
  [3, 'PROVIDER_ERROR'],
  [10, 'PROVIDER_ERROR'],
  [131005, 'PROVIDER_ERROR'],
  [131042, 'PROVIDER_ERROR'],
]);

/** Codes of what passes: overload, rate limits, maintenance, and the errors that Meta itself says to try again. */
const PASSING: ReadonlySet<number> = new Set([
  1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057, 133004, 133016, 135000,
]);

/** The code of an error; NaN when it has none. */
export function codeOf(error: Payload): number {
  return Number(asLine(error.code, 20) || Number.NaN);
}

/** What an error says about the account, if anything. */
export function accountProblem(error: Payload): ChannelProblemCode | null {
  const code = codeOf(error);
  // The object does not exist, or the token may not see it: the phone number id or its permissions are wrong.
  if (code === 100 && Number(asLine(error.error_subcode, 20)) === 33) return 'DISCONNECTED';
  // Permissions that were not granted or were taken away.
  if (code >= 200 && code <= 299) return 'PROVIDER_ERROR';
  return PROBLEMS.get(code) ?? null;
}

/** Whether an error passes by itself. */
export function isPassing(error: Payload): boolean {
  return error.is_transient === true || PASSING.has(codeOf(error));
}

/** What an error of the Cloud API says, in one line. */
export function errorText(error: Payload): string {
  const details = asLine(asObject(error.error_data).details, 500);
  return details || asLine(error.message, 500) || asLine(error.title, 500) || 'WhatsApp gives no reason.';
}

/** A change that names no phone number: it is about the whole business account. */
export function accountEvent(
  field: string,
  change: Payload,
  businessId: string | null,
  account: ChannelAccount,
): InboundEvent {
  if (field !== 'account_update') return ignored(null, `A webhook about ${field || 'nothing that is known'}.`);
  const own = account.config.businessAccountId;
  if (typeof own === 'string' && own !== '' && businessId !== own) {
    return ignored(null, 'An update of another business account.');
  }
  const event = asLine(change.event, 60);
  switch (event) {
    case 'DISABLED_UPDATE':
      return banEvent(asLine(asObject(change.ban_info).waba_ban_state, 60));
    case 'ACCOUNT_DELETED':
    case 'ACCOUNT_OFFBOARDED':
    case 'PARTNER_REMOVED':
    case 'PARTNER_APP_UNINSTALLED':
      return { kind: 'health', problem: { code: 'DISCONNECTED', message: `WhatsApp says ${event}.` } };
    case 'ACCOUNT_RECONNECTED':
      return { kind: 'health', problem: null };
    default:
      return ignored(null, `An update of the account: ${event || '(none)'}.`);
  }
}

function banEvent(state: string): InboundEvent {
  if (state === 'REINSTATE') return { kind: 'health', problem: null };
  if (state !== 'DISABLE') return ignored(null, `The ban of the account is ${state || '(none)'}.`);
  return { kind: 'health', problem: { code: 'NUMBER_BANNED', message: 'WhatsApp disabled the business account.' } };
}
