/** Elements whose content nobody reads. */
const UNREAD = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'textarea',
  'select',
  'canvas',
]);
/** Elements that stand on lines of their own. */
const BLOCKS = new Set([
  ...[
    'address',
    'article',
    'aside',
    'blockquote',
    'body',
    'dd',
    'div',
    'dl',
    'dt',
    'figcaption',
    'figure',
    'footer',
    'form',
  ],
  ...[
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'head',
    'header',
    'hr',
    'li',
    'main',
    'nav',
    'ol',
    'p',
    'pre',
    'section',
    'table',
  ],
  ...['title', 'tr', 'ul', 'br'],
]);
const CELLS = new Set(['td', 'th']);

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®', trade: '™', hellip: '…' },
  ...{ mdash: '\u2014', ndash: '\u2013', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»' },
  ...{ bull: '•', middot: '·', euro: '€', pound: '£', yen: '¥', cent: '¢', deg: '°', times: '×', auml: 'ä', ouml: 'ö' },
  ...{ uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß', eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç' },
};

function entity(whole: string, body: string): string {
  if (!body.startsWith('#')) return Object.hasOwn(NAMED, body) ? (NAMED[body] as string) : whole;
  const code = /^#x/i.test(body) ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
  const known = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return known ? String.fromCodePoint(code) : '\uFFFD';
}

/** Where markup begins; any other `<` is text. */
const TAG = /<[a-z/!?]/gi;

/** Where the tag that begins at `start` ends: after its `>`, those in quoted attributes aside. */
function endOfTag(html: string, start: number): number {
  let quote = '';
  for (let at = start; at < html.length; at += 1) {
    const char = html[at] as string;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '>') return at + 1;
    else if ((char === '"' || char === "'") && html[at - 1] === '=') quote = char;
  }
  return html.length;
}

/**
 * The text of an HTML page as somebody reads it: no markup, scripts or styles, blocks on lines of their own, a list item with a
 * dash, cells apart. No parser: it never fails, takes time in proportion to the page, and what it gives is for reading only.
 */
export function htmlText(html: string): string {
  // ASCII only, as names of elements are: toLowerCase makes two characters of a Turkish capital I, and all places shift.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let at = 0;
  while (at < html.length) {
    TAG.lastIndex = at;
    const open = TAG.exec(html)?.index ?? -1;
    text += html.slice(at, open < 0 ? html.length : open).replace(/\s+/g, ' ');
    if (open < 0) break;
    if (lower.startsWith('<!--', open)) {
      const close = lower.indexOf('-->', open + 4);
      at = close < 0 ? html.length : close + 3;
      continue;
    }
    const [, slash, name = ''] = /^<(\/?)([a-z][a-z0-9]*)/.exec(lower.slice(open, open + 40)) ?? [];
    at = endOfTag(html, open + 1);
    if (UNREAD.has(name) && slash === '') {
      const close = html[at - 2] === '/' ? at : lower.indexOf(`</${name}`, at);
      at = close < 0 ? html.length : close;
    } else if (BLOCKS.has(name)) text += name === 'li' && slash === '' ? '\n- ' : '\n';
    else if (CELLS.has(name) && slash !== '') text += '\t';
  }
  return text
    .replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, entity)
    .replace(/[^\S\n\t]+/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '-')
    .join('\n');
}
