/** Marks that stand over or under a letter, and the characters by which they stand alone. U+0060 is a quotation mark in most texts. */
const MARKS: Readonly<Record<string, string>> = {
  '\u00b4': '\u0301',
  '\u00a8': '\u0308',
  '\u02c6': '\u0302',
  '\u02dc': '\u0303',
  '\u00b8': '\u0327',
  '\u02c7': '\u030c',
  '\u02d8': '\u0306',
  '\u02d9': '\u0307',
  '\u02da': '\u030a',
  '\u02dd': '\u030b',
  '\u02db': '\u0328',
  '\u00af': '\u0304',
};
const ALONE = new RegExp(`[${Object.keys(MARKS).join('')}]`, 'g');
/** A mark that stands on a space: pdf.js writes one that stands alone so (NFKC). */
const ON_SPACE = /(\p{L}?)( ?) ([\u0300-\u0328])(\p{L}?)/gu;
const LEFT_ALONE = / ([\u0300-\u0328])/g;
/** A quotation mark of TeX between two words: TeX draws an accent before its letter, and no space between. */
const QUOTE = /(?<=\p{L}) \u0300 (?=\p{L})/gu;
const LIGATURES = /[\ufb00-\ufb06]/g;
/** Letters that are set apart, one by one. */
const SET_APART = /(?<![\p{L}\p{N}])\p{L}(?: \p{L}){4,}(?![\p{L}\p{N}])/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/**
 * The text of a line as it is meant: TeX draws an accent and its letter one after the other (`caf´e`), and some fonts have one character for
 * two letters. A mark goes to the letter behind it, or else to the one before it, where Unicode has the two as one character.
 */
export function composedLine(line: string): string {
  const plain = line.replace(LIGATURES, (each) => each.normalize('NFKC'));
  if (!/[\u0300-\u0328\u00a8\u00af\u00b4\u00b8\u02c6-\u02dd]/u.test(plain)) return joinedLetters(plain);
  const marked = plain
    .replace(QUOTE, ' `')
    .replace(ALONE, (each) => ` ${MARKS[each] ?? ''}`)
    .replace(ON_SPACE, (all, before: string, space: string, mark: string, after: string) => {
      const behind = joinedTo(after, mark);
      if (behind !== undefined) return before + space + behind;
      const ahead = space === '' ? joinedTo(before, mark) : undefined;
      return ahead === undefined ? all : ahead + after;
    })
    .replace(LEFT_ALONE, (all, mark: string) => alone(mark) ?? all);
  return joinedLetters(marked.normalize('NFC'));
}

/** The letter with the mark, if Unicode has it as one character. TeX puts accents on an i without a dot. */
function joinedTo(letter: string, mark: string): string | undefined {
  if (letter === '') return undefined;
  const base = letter === 'ı' ? 'i' : letter === 'ȷ' ? 'j' : letter;
  const both = (base + mark).normalize('NFC');
  return [...both].length === 1 ? both : undefined;
}

function alone(mark: string): string | undefined {
  if (mark === '\u0300') return '`';
  return Object.keys(MARKS).find((each) => MARKS[each] === mark);
}

function joinedLetters(line: string): string {
  if (UNSPACED.test(line)) return line;
  return line.replace(SET_APART, (letters) => letters.replaceAll(' ', ''));
}

/** A line of one or two letters: a label of a drawing, or a cell of a narrow table. */
export function isFragment(line: string): boolean {
  return (
    line.length <= 8 &&
    !UNSPACED.test(line) &&
    /^(?:[\p{L}\p{N}]{1,2}[.,;:)]?(?: |$)){1,3}$/u.test(line) &&
    /\p{L}/u.test(line)
  );
}
