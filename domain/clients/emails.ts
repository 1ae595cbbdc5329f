const MAX_EMAIL = 254;
const MAX_LOCAL_PART = 64;
const ATOM = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const EMAIL = new RegExp(`^${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${LABEL}$`, 'i');

/**
 * Whether mail can be sent to this address, by its form: `name@domain` in ASCII, without quotes, comments, spaces and line breaks, the domain with a dot.
 * A domain in other letters is written in its ASCII form (`xn--…`). Lengths are those of RFC 5321, 4.5.3.1.
 */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_EMAIL && text.indexOf('@') <= MAX_LOCAL_PART && EMAIL.test(text);
}

/** Addresses that are equal under this are one: nobody tells people apart by the case of letters. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** Whether the text is fit for a line of a mail: it has no control characters. */
export function isOneLine(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}
