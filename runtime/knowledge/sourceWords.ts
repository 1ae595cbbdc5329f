import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { type HeadingTerms, LAST_POSITION, lexeme, mayHaveAccents, STEM, type Term } from './terms.ts';

/** Most places that PostgreSQL keeps of one word in one text (documentation, "Text Search Type Limitations"). */
const MAX_PLACES = 255;
/** How often a stem of the innermost heading is counted. */
const INNERMOST_COUNTS = 3;
/** Answers that are taken in before the event loop gets a turn. */
const ANSWERS_AT_ONCE = 5_000;

/** What PostgreSQL knows of words. */
export interface WordLookup {
  /** The words without accents; those that stay as they are are missing. */
  plain(words: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The stems of the words, without accents; those of words that have none are missing. */
  stems(language: string, words: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** A word or stem as the index has it. */
interface Lexeme {
  /** With `STEM` before a stem. */
  text: string;
  isStem: boolean;
  /** As tsvector takes it. */
  quoted: string;
  /** How many passages have it. */
  passages: number;
  /** The number of the passage that had it last, and its places there. */
  last: number;
  places: string;
  placeCount: number;
}

/** A word as texts have it. What is null is known not to be there; what is undefined was not asked for. */
interface WordForm {
  word: string;
  plain: Lexeme | null | undefined;
  /** The word itself as a stem, for words that are not stemmed. */
  own: Lexeme | undefined;
  /** By the number of the language. */
  stems: (Lexeme | null | undefined)[];
}

/** A passage whose words are known by their forms. */
export interface ReadPassage {
  heading: HeadingTerms;
  headingForms: readonly WordForm[];
  content: readonly Term[];
  contentForms: readonly WordForm[];
  language: number | undefined;
}

/**
 * The words of one source. Each is held once, with all that is known of it, because a source has ten times as many words as different ones. Passages are read, then
 * the unknown words of many are learned at once, then the passages are written.
 */
export class SourceWords {
  readonly #forms = new Map<string, WordForm>();
  readonly #lexemes = new Map<string, Lexeme>();
  readonly #languages: string[] = [];
  #accented: WordForm[] = [];
  readonly #unstemmed = new Map<number, WordForm[]>();
  #written = 0;

  /** @param language the name of PostgreSQL's stemmer, without `_stem`; undefined: the passage gets no stems */
  read(heading: HeadingTerms, content: readonly Term[], language: string | undefined): ReadPassage {
    const number = language === undefined ? undefined : this.#numberOf(language);
    const formOf = (term: Term) => this.#formOf(term, number);
    return {
      heading,
      headingForms: heading.terms.map(formOf),
      content,
      contentForms: content.map(formOf),
      language: number,
    };
  }

  /** Learns what is not known yet of the words of the passages that were read. */
  async learn(lookup: WordLookup): Promise<void> {
    const accented = this.#accented;
    this.#accented = [];
    if (accented.length > 0) {
      const plain = await lookup.plain(accented.map(({ word }) => word));
      for (const form of accented) form.plain = this.#lexemeOf(plain.get(form.word) ?? form.word);
    }
    for (const [language, forms] of this.#unstemmed) {
      this.#unstemmed.delete(language);
      const words = forms.map(({ word }) => word);
      const stems = await lookup.stems(this.#languages[language] ?? '', words);
      for (const [place, form] of forms.entries()) {
        if (place % ANSWERS_AT_ONCE === ANSWERS_AT_ONCE - 1) await yieldToEvents();
        const stem = stems.get(form.word);
        if (stem !== undefined) form.stems[language] = this.#lexemeOf(STEM + stem);
      }
    }
  }

  /**
   * The text form of a passage's tsvector, and the number of its words, whether they are the same or not. It has the words of the headings (label C) and then those
   * of the content, without accents, and their stems. The stems of the innermost heading stand three times, because they say what the passage is about. Those of
   * the outer headings stand once: they are in every passage of the chapter.
   */
  write({ heading, headingForms, content, contentForms, language }: ReadPassage): { text: string; length: number } {
    this.#written += 1;
    const number = this.#written;
    const found: Lexeme[] = [];
    const shift = heading.terms.at(-1)?.position ?? 0;
    const length = shift + (content.at(-1)?.position ?? 0);
    const put = (one: Lexeme, position: number, label: string) => {
      const place = `${Math.min(position, LAST_POSITION)}${label}`;
      if (one.last !== number) {
        one.last = number;
        one.passages += 1;
        one.places = place;
        one.placeCount = 1;
        found.push(one);
      } else if (one.placeCount < MAX_PLACES) {
        one.places += `,${place}`;
        one.placeCount += 1;
      }
    };
    const stemOf = (term: Term, form: WordForm, plain: Lexeme) => {
      if (language === undefined) return undefined;
      if (term.stems) return form.stems[language];
      form.own ??= this.#lexemeOf(STEM + plain.text) ?? undefined;
      return form.own;
    };
    const add = (terms: readonly Term[], forms: readonly WordForm[], by: number, label: string) => {
      for (const [at, form] of forms.entries()) {
        const term = terms[at];
        if (!term || !form.plain) continue;
        put(form.plain, term.position + by, label);
        const stem = stemOf(term, form, form.plain);
        if (!stem) continue;
        put(stem, term.position + by, '');
        if (label === '' || term.position < heading.innermost) continue;
        for (let copy = 1; copy < INNERMOST_COUNTS; copy += 1) {
          put(stem, length + (copy - 1) * shift + term.position, '');
        }
      }
    };
    add(heading.terms, headingForms, 0, 'C');
    add(content, contentForms, shift, '');
    return { text: found.map(({ quoted, places }) => `${quoted}:${places}`).join(' '), length };
  }

  /** In how many written passages each word stands, stems left out. The empty word counts all passages. */
  wordCounts(): Map<string, number> {
    const counts = new Map<string, number>();
    if (this.#written > 0) counts.set('', this.#written);
    for (const { text, isStem, passages } of this.#lexemes.values()) {
      if (!isStem && passages > 0) counts.set(text, passages);
    }
    return counts;
  }

  /** In how many written passages each word and stem stands that stands in `least` or more. */
  commonCounts(least: number): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { text, passages } of this.#lexemes.values()) {
      if (passages > 0 && passages >= least) counts.set(text, passages);
    }
    return counts;
  }

  #numberOf(language: string): number {
    const known = this.#languages.indexOf(language);
    return known < 0 ? this.#languages.push(language) - 1 : known;
  }

  #formOf({ word, stems }: Term, language: number | undefined): WordForm {
    let form = this.#forms.get(word);
    if (!form) {
      form = { word, plain: undefined, own: undefined, stems: [] };
      this.#forms.set(word, form);
      if (mayHaveAccents(word)) this.#accented.push(form);
      else form.plain = this.#lexemeOf(word);
    }
    if (stems && language !== undefined && form.stems[language] === undefined) {
      form.stems[language] = null;
      const unstemmed = this.#unstemmed.get(language);
      if (unstemmed) unstemmed.push(form);
      else this.#unstemmed.set(language, [form]);
    }
    return form;
  }

  #lexemeOf(text: string): Lexeme | null {
    if (text === '') return null;
    const known = this.#lexemes.get(text);
    if (known) return known;
    const made: Lexeme = {
      text,
      isStem: text.startsWith(STEM),
      quoted: lexeme(text),
      passages: 0,
      last: 0,
      places: '',
      placeCount: 0,
    };
    this.#lexemes.set(text, made);
    return made;
  }
}
