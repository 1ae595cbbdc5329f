import { Tokenizer } from 'htmlparser2';

/** Elements whose content is not shown as text. */
const HIDDEN: ReadonlySet<string> = new Set(
  'script style noscript template svg iframe object textarea select canvas'.split(' '),
);
/** Elements that stand on lines of their own. */
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 head header ' +
    'hr li main nav ol p pre section table title tr ul'
  ).split(' '),
);
const CELLS: ReadonlySet<string> = new Set(['td', 'th']);

/**
 * Returns the text of an HTML page as a reader sees it: without markup, scripts and styles. Each block is a line of its own, a list
 * item begins with a dash, a tab separates cells. Never throws. Takes time in proportion to the length of the page.
 */
export function htmlText(html: string): string {
  const collector = new TextCollector(html);
  // The library's Parser keeps a stack of open elements, which takes quadratic time on deep pages. The tokenizer has no stack.
  const tokenizer = new Tokenizer({ decodeEntities: true, recognizeSelfClosing: true }, collector);
  tokenizer.write(html);
  tokenizer.end();
  return collector.text();
}

/** Receives the tokens of a page, as offsets into it. */
class TextCollector {
  readonly #html: string;
  readonly #pieces: string[] = [];
  #tag = '';
  /** The hidden element around the present place. */
  #hidden = '';
  /** How many elements of that name are open. */
  #hiddenDepth = 0;

  constructor(html: string) {
    this.#html = html;
  }

  text(): string {
    return this.#pieces
      .join('')
      .replace(/[^\S\n\t]+/g, ' ')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && line !== '-')
      .join('\n');
  }

  isInForeignContext(): boolean {
    return this.#hidden === 'svg';
  }

  ontext(start: number, end: number): void {
    this.#add(this.#html.slice(start, end).replace(/\s+/g, ' '));
  }

  ontextentity(codePoint: number): void {
    this.#add(String.fromCodePoint(codePoint).replace(/\s/, ' '));
  }

  onopentagname(start: number, end: number): void {
    const tag = this.#html.slice(start, end).toLowerCase();
    this.#tag = tag;
    if (this.#hidden !== '') {
      if (tag === this.#hidden) this.#hiddenDepth += 1;
    } else if (HIDDEN.has(tag)) {
      this.#hidden = tag;
      this.#hiddenDepth = 1;
    } else if (tag === 'li') this.#pieces.push('\n- ');
    else if (BLOCKS.has(tag)) this.#pieces.push('\n');
  }

  onselfclosingtag(): void {
    this.#close(this.#tag);
  }

  onclosetag(start: number, end: number): void {
    this.#close(this.#html.slice(start, end).toLowerCase());
  }

  onattribdata(): void {}
  onattribend(): void {}
  onattribentity(): void {}
  onattribname(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onopentagend(): void {}
  onprocessinginstruction(): void {}

  #add(text: string): void {
    if (this.#hidden === '') this.#pieces.push(text);
  }

  #close(tag: string): void {
    if (this.#hidden !== '') {
      if (tag === this.#hidden) this.#hiddenDepth -= 1;
      if (this.#hiddenDepth === 0) this.#hidden = '';
    } else if (CELLS.has(tag)) this.#pieces.push('\t');
    else if (BLOCKS.has(tag)) this.#pieces.push('\n');
  }
}
