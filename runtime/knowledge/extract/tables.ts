/** Names of columns are no longer: those of a survey are whole questions. */
const MAX_NAME_CHARS = 300;
/** Names that are no words: signs of units, and years. */
const SIGN = /^[#%€$£¥°№]+$/u;
const YEAR = /^(?:19|20)\d\d(?:\s?[-/]\s?\d{2,4})?$/u;
const ADDRESS = /@|^https?:/iu;

/** Whether the first row of a table can be the names of its columns: different words, and no numbers but years. */
export function isHeaderRow(row: readonly string[]): boolean {
  const names = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const named = names.filter((name) => /\p{L}/u.test(name) && !ADDRESS.test(name));
  const others = names.filter((name) => !named.includes(name));
  return (
    row.length > 1 &&
    names.length >= Math.ceil(row.length / 2) &&
    named.length > 0 &&
    others.every((name) => SIGN.test(name) || YEAR.test(name)) &&
    names.every((name) => name.length <= MAX_NAME_CHARS) &&
    // A spreadsheet may have two columns of one name.
    new Set(names).size > names.length / 2
  );
}
