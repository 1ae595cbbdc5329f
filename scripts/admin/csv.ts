/** A text that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A line of CSV (RFC 4180). Text that a spreadsheet would run as a formula begins with an apostrophe, which spreadsheets do not show
 * (OWASP, "CSV Injection"); numbers stay numbers.
 */
export function csvLine(values: readonly unknown[]): string {
  return values.map(field).join(',');
}

function field(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = value instanceof Date ? value.toISOString() : String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
