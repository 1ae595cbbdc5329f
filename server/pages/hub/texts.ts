import { ARABIC } from './texts/arabic.ts';
import { ENGLISH, type HubTexts } from './texts/english.ts';
import { GERMAN } from './texts/german.ts';

/** The languages that the pages speak, by the language of a locale. */
const LANGUAGES: Readonly<Record<string, HubTexts>> = { en: ENGLISH, de: GERMAN, ar: ARABIC };
const RIGHT_TO_LEFT = new Set(['ar']);

/** The texts of a hub, and the attributes of the page that they are on. */
export interface PageLanguage {
  texts: HubTexts;
  /** BCP 47: the hub's locale, or English where its language is not spoken here. */
  lang: string;
  dir: 'ltr' | 'rtl';
}

/** The language of a hub's pages. */
export function languageOf(locale: string): PageLanguage {
  const language = locale.split(/[-_]/, 1)[0]?.toLowerCase() ?? '';
  const texts = LANGUAGES[language];
  if (!texts) return { texts: ENGLISH, lang: 'en', dir: 'ltr' };
  return { texts, lang: locale, dir: RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr' };
}

/** Puts values in the places `{name}` of a text. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}
