/** Begins with a letter: Intl takes offsets such as +02:00 too, which have no changes of clocks. */
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,49}$/;

/**
 * The name of a time zone as it is stored, or undefined when the machine's tz database has no such zone. Names are IANA's; their
 * case does not matter, and other names of a zone (Asia/Kolkata, which ICU calls Asia/Calcutta) stay as they are written.
 */
export function timeZoneName(name: string): string | undefined {
  if (!NAME.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch {
    return undefined;
  }
}
