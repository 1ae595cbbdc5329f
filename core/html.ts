import { escapeXml } from './text.ts';

/** Text that is HTML already. Only `html` makes it. */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** What a template may hold. Texts and numbers are escaped; nothing is written for what is absent. */
export type HtmlContent = Html | string | number | undefined | null | false | readonly HtmlContent[];

/**
 * HTML from a template. Every text in a hole becomes text in the page, whoever wrote it: the content of an element, or the value of an attribute. Throws
 * for a hole that is a value without double quotes around it, since escaping would not be enough there.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlContent[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) {
    if (/[=']$/.test(text) && !(value instanceof Html))
      throw new Error('Put double quotes around the value of an attribute');
    text += written(value) + (strings[index + 1] ?? '');
  }
  return new Html(text);
}

function written(value: HtmlContent): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'string' || typeof value === 'number') return escapeXml(String(value));
  return value.map(written).join('');
}
