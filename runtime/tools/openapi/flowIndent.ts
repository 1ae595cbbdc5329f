import { Lexer } from 'yaml';

/** What the lexer puts before a scalar that has no quotes, and at the end of a bracket that its lines do not belong to. */
const BEFORE_SCALAR = '\u001F';
const BROKEN_BRACKET = '\u0018';
const BEFORE_DOCUMENT = '\u0002';

/**
 * YAML with the lines of each bracket moved behind the column where it opens, and without tabs between tokens; undefined where the brackets
 * cannot be told, or where more than `max` characters come of it. YAML forbids a closing bracket that stands no deeper than its key (`required: [`, and `]` below the r), and documents are full of it, since libyaml
 * takes it.
 */
export function indentBrackets(text: string, max: number): string | undefined {
  const parts: string[] = [];
  let added = 0;
  let depth = 0;
  let column = 0;
  let margin = '';
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (isScalar) parts.push(token);
    else if (token === BROKEN_BRACKET || text.length + added > max) return undefined;
    else if (token === '\n' || token === '\r\n') {
      parts.push(token, margin);
      added += margin.length;
    } else if (token !== BEFORE_SCALAR && token !== BEFORE_DOCUMENT)
      parts.push(/^[ \t]+$/.test(token) && column > 0 ? token.replaceAll('\t', ' ') : token);
    if (!isScalar && /^[[{]$/.test(token)) {
      if (depth === 0) margin = ' '.repeat(column);
      depth += 1;
    } else if (!isScalar && /^[\]}]$/.test(token)) {
      depth = Math.max(0, depth - 1);
      if (depth === 0) margin = '';
    }
    isScalar = !isScalar && token === BEFORE_SCALAR;
    const end = token.lastIndexOf('\n');
    if (token !== BEFORE_SCALAR && token !== BEFORE_DOCUMENT)
      column = end < 0 ? column + token.length : token.length - end - 1;
  }
  return parts.join('');
}
