import { v7 } from 'uuid';

/** Source of a regular expression for a UUID in the canonical 8-4-4-4-12 form, in lower case. */
export const UUID_PATTERN = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

const UUID = new RegExp(`^${UUID_PATTERN}$`, 'i');

/** A new UUID v7 (RFC 9562). Later calls in one process sort after earlier ones, even within a millisecond. */
export function newId(): string {
  return v7();
}

/** Whether `value` is a UUID in the canonical 8-4-4-4-12 form, of any version, upper or lower case. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}
