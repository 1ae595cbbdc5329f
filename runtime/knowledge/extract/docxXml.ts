/** A style of paragraphs, as far as it decides how they are read. */
interface ParagraphStyle {
  name: string;
  basedOn: string | undefined;
  /** From 0; 9 is the text. */
  outline: number | undefined;
}

/** How the paragraphs of a document are read, by the ids of their styles. */
export interface ParagraphStyles {
  /** Styles of headings, and those that are made from them, with their level from 1. */
  headings: ReadonlyMap<string, number>;
  /** Styles that have a level in the outline and are no headings by name. Contracts give them to whole clauses. */
  outlined: ReadonlyMap<string, number>;
  /** Styles of tables of contents. */
  contents: ReadonlySet<string>;
}

const TAG = /<(\/?)([\w.-]+:[\w.-]+)([^<>]*)>/g;
const VALUE = /\sw:val\s*=\s*["']([^"']*)["']/;
const STYLE_ID = /\sw:styleId\s*=\s*["']([^"']*)["']/;
const HEADING_NAME = /^heading ([1-9])$/i;
const CONTENTS_NAME =
  /^(?:(?:toc|contents|user index|illustration index|table index) (?:heading|\d+)|table of figures|index heading)$/i;
const MAX_STYLES_ABOVE = 20;
const MAX_LEVEL = 6;
/** A paragraph with a level in the outline is a heading when it is no longer, and no sentence. */
const MAX_OUTLINED_CHARS = 120;
const SENTENCE_END = /[.;:,]\s*$/u;

/** The styles of `word/styles.xml`. */
export function paragraphStyles(xml: string): ParagraphStyles {
  const styles = new Map<string, ParagraphStyle>();
  let style: ParagraphStyle | undefined;
  for (const [, slash, tag, rest = ''] of xml.matchAll(TAG)) {
    if (slash !== '') continue;
    const value = VALUE.exec(rest)?.[1];
    if (tag === 'w:style') {
      style = { name: '', basedOn: undefined, outline: undefined };
      styles.set(STYLE_ID.exec(rest)?.[1] ?? '', style);
    } else if (style && value !== undefined) {
      if (tag === 'w:name') style.name = value;
      else if (tag === 'w:basedOn') style.basedOn = value;
      else if (tag === 'w:outlineLvl') style.outline = Number(value);
    }
  }
  const headings = new Map<string, number>();
  const outlined = new Map<string, number>();
  const contents = new Set<string>();
  for (const [id, { name }] of styles) {
    const chain = stylesAbove(styles, id);
    const outline = chain.find((one) => one.outline !== undefined)?.outline;
    const heading = chain.flatMap((one) => HEADING_NAME.exec(one.name)?.[1] ?? []).at(0);
    if (CONTENTS_NAME.test(name)) contents.add(id);
    else if (heading !== undefined && outline !== 9) headings.set(id, levelOf(outline ?? Number(heading) - 1));
    else if (outline !== undefined && outline < 9) outlined.set(id, levelOf(outline));
  }
  return { headings, outlined, contents };
}

/** A style and those that it is made from. */
function stylesAbove(styles: ReadonlyMap<string, ParagraphStyle>, id: string): ParagraphStyle[] {
  const chain: ParagraphStyle[] = [];
  for (let style = styles.get(id); style && chain.length < MAX_STYLES_ABOVE; style = styles.get(style.basedOn ?? '')) {
    chain.push(style);
  }
  return chain;
}

function levelOf(outline: number): number {
  return Math.min(outline + 1, MAX_LEVEL);
}

/** Elements whose content belongs to the text, and that mammoth does not know: ruby, fields, directions of writing, formulas. */
const TRANSPARENT = new Set(
  'w:ruby w:rubyBase w:fldSimple w:bdo w:dir m:oMathPara m:oMath m:acc m:bar m:borderBox m:box m:d m:deg m:den m:e m:eqArr m:f m:fName m:func m:groupChr m:lim m:limLow m:limUpp m:m m:mr m:nary m:num m:phant m:rad m:sPre m:sSub m:sSubSup m:sSup m:sub m:sup'.split(
    ' ',
  ),
);
const KNOWN_TRANSPARENT = 'w:smartTag';
const RENAMED: ReadonlyMap<string, string> = new Map([
  ...[...TRANSPARENT].map((tag): [string, string] => [tag, KNOWN_TRANSPARENT]),
  ['m:r', 'w:r'],
  ['m:t', 'w:t'],
]);
/** Signs between the parts of a formula. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['m:den', '/'],
  ['m:sup', '^'],
  ['m:sub', '_'],
]);

/** An element that is left out when its content says so. */
interface OpenElement {
  tag: string;
  /** Where it begins in what is written. */
  from: number;
  isDropped: boolean;
  /** Of a paragraph: the place of what names its level, the level, and whether its style is one of headings. */
  place?: number;
  level?: number | undefined;
  isHeading?: boolean;
  text: string;
}

/**
 * The XML of a part of a Word document as mammoth reads all of its text. Leaves out tables of contents, hidden text and the readings of ruby; gives
 * headings of any style the style of a heading. Takes one pass.
 */
export function mendedXml(xml: string, styles: ParagraphStyles): string {
  const written: string[] = [];
  const open: OpenElement[] = [];
  // Those of them that are paragraphs. A search among all takes long where a file never closes what it opens.
  const paragraphs: OpenElement[] = [];
  let at = 0;
  for (const { 0: whole, 1: slash, 2: tag = '', 3: rest = '', index } of xml.matchAll(TAG)) {
    const between = xml.slice(at, index);
    written.push(between);
    at = index + whole.length;
    const paragraph = paragraphs.at(-1);
    if (paragraph && paragraph.text.length <= MAX_OUTLINED_CHARS) paragraph.text += between;
    const isEmpty = rest.endsWith('/');
    if (slash === '' && !isEmpty && isWatched(tag)) {
      const element = { tag, from: written.length, isDropped: tag === 'w:rt', text: '' };
      open.push(element);
      if (tag === 'w:p') paragraphs.push(element);
    }
    const value = VALUE.exec(rest)?.[1];
    if (slash === '') note(tag, value, open, styles, written.length);
    const name = RENAMED.get(tag) ?? tag;
    written.push(name === tag ? whole : `<${slash}${name}${rest}>`);
    const sign = slash === '' && !isEmpty ? SIGNS.get(tag) : undefined;
    if (sign !== undefined) written.push(`<w:r><w:t>${sign}</w:t></w:r>`);
    if (slash === '' || open.at(-1)?.tag !== tag) continue;
    end(open.pop(), written);
    if (tag === 'w:p') paragraphs.pop();
  }
  written.push(xml.slice(at));
  return written.join('');
}

function isWatched(tag: string): boolean {
  return tag === 'w:p' || tag === 'w:r' || tag === 'w:sdt' || tag === 'w:rt';
}

/** Notes what an element says about those around it. */
function note(tag: string, value: string | undefined, open: OpenElement[], styles: ParagraphStyles, at: number): void {
  const inner = open.at(-1);
  if (!inner) return;
  if (tag === 'w:docPartGallery' && inner.tag === 'w:sdt' && /^table of (?:contents|figures)$/i.test(value ?? '')) {
    inner.isDropped = true;
  } else if (tag === 'w:vanish' && inner.tag === 'w:r' && value !== '0' && value !== 'false') {
    inner.isDropped = true;
  } else if (tag === 'w:pStyle' && inner.tag === 'w:p') {
    const style = value ?? '';
    inner.isDropped = styles.contents.has(style);
    inner.isHeading = styles.headings.has(style);
    inner.level = styles.headings.get(style) ?? styles.outlined.get(style);
    inner.place = at;
  } else if (tag === 'w:outlineLvl' && inner.tag === 'w:p' && Number(value) < 9 && !inner.isHeading) {
    inner.level = levelOf(Number(value));
    inner.place ??= at;
  }
}

/** Takes back an element that is left out, and gives a heading the style of one. */
function end(element: OpenElement | undefined, written: string[]): void {
  if (!element) return;
  const { isDropped, from, level, place, isHeading, text } = element;
  if (isDropped) {
    written.length = from;
  } else if (level !== undefined && place !== undefined) {
    const isShort = text.length <= MAX_OUTLINED_CHARS && !SENTENCE_END.test(text);
    const close = written[place]?.endsWith('/>') ? '/>' : '>';
    if (isHeading || isShort) written[place] = `<w:pStyle w:val="Heading${level}"${close}`;
  }
}
