import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { extractPassages } from '../../../runtime/knowledge/extract.ts';
import type { Figure } from '../report.ts';
import { bookPackages, LANGUAGES, plain, unpacked } from './corpus.ts';

/** Sentences of other lengths are labels, or were not told apart. Those of Japanese have fewer characters. */
const [MIN_CHARS, MIN_CHARS_OF_JAPANESE, MAX_CHARS] = [40, 15, 400];
/** So small a PDF of a whole book is one without its font, and nearly without its text. */
const MIN_PDF_BYTES = 50_000;

const DROPPED =
  /<div class="(?:toc|nav(?:header|footer))">[\s\S]*?<\/(?:div|table)>|<(script|style|pre)[\s\S]*?<\/\1>/g;
const PARAGRAPHS =
  /<p(?![^>]*class="title")(?:\s[^>]*)?>([\s\S]*?)(?=<\/?(?:p|dt|dd|li|pre|table|div|ul|ol|dl|h[1-6])[\s>])/g;
const LINKS = /<a\s[^>]*>[\s\S]*?<\/a>/g;
/** Stands for a link: each format writes where it goes in another way. */
const LINK = '\u0001';
const BETWEEN = '\u0002';

/**
 * Measures how much of a book is whole in the passages that are read from its PDF and from its plain text: the share of the sentences of its web pages that stand,
 * unbroken, in one passage. All three were made from one source, by TeX, by DocBook's stylesheets and by w3m.
 */
export async function measureReading(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'reading-'));
  try {
    for (const language of LANGUAGES) {
      for (const { package: name, folder: place, pages } of bookPackages(language)) {
        const root = join(await unpacked(name), place);
        const sentences = await sentencesOf(root, pages, language);
        for (const kind of ['pdf', 'text'] as const) {
          const path = await fileOf(await unpacked(name), kind, join(folder, `${name}.${kind}`));
          if (path === undefined) continue;
          figures.push(await measureFile(path, kind, sentences, { title: `${name}, ${kind}`, language }));
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return figures;
}

async function measureFile(
  path: string,
  kind: 'pdf' | 'text',
  sentences: ReadonlySet<string>,
  { title, language }: { title: string; language: string },
): Promise<Figure> {
  const began = performance.now();
  const passages = await extractPassages(path, kind);
  const seconds = (performance.now() - began) / 1000;
  const found = comparable(passages.map(({ content }) => content).join(BETWEEN), language);
  const whole = [...sentences].filter((sentence) => found.includes(sentence)).length;
  return {
    measure: 'reading',
    name: `${title}: sentences that are whole`,
    value: whole / sentences.size,
    unit: '',
    note: `${whole} of ${sentences.size}; ${passages.length} passages in ${seconds.toFixed(1)} s`,
  };
}

/** The sentences of the paragraphs of web pages, without those that have a link or an address in them. */
async function sentencesOf(root: string, pages: RegExp, language: string): Promise<Set<string>> {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  const least = language === 'ja' ? MIN_CHARS_OF_JAPANESE : MIN_CHARS;
  const sentences = new Set<string>();
  for (const file of (await readdir(root)).filter((each) => pages.test(each)).sort()) {
    const body = (await readFile(join(root, file), 'utf8')).replace(DROPPED, '');
    for (const [, paragraph = ''] of body.matchAll(PARAGRAPHS)) {
      const text = plain(paragraph.replace(LINKS, LINK)).replace(/\s+/g, ' ');
      for (const { segment } of segmenter.segment(text)) {
        const isWhole = !segment.includes(LINK) && !/&\w+;|https?:/.test(segment);
        const length = segment.trim().length;
        if (isWhole && length >= least && length <= MAX_CHARS) sentences.add(comparable(segment, language));
      }
    }
  }
  return sentences;
}

/** Quotation marks, dashes and widths of letters differ by format; in Japanese, so do spaces. */
function comparable(text: string, language: string): string {
  const same = text
    .normalize('NFKC')
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/[“”«»„]/g, '"')
    .replace(/[‐-―]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
  return language === 'ja' ? same.replaceAll(' ', '') : same;
}

/** The PDF or the plain text that a package has of its book, unpacked; undefined when there is none. */
async function fileOf(root: string, kind: 'pdf' | 'text', to: string): Promise<string | undefined> {
  const suffix = kind === 'pdf' ? /\.\w\w\.pdf(\.gz)?$/ : /\.\w\w\.txt\.gz$/;
  const found = (await readdir(root, { recursive: true })).find((path) => suffix.test(path));
  if (found === undefined) return undefined;
  const packed = await readFile(join(root, found));
  const bytes = found.endsWith('.gz') ? gunzipSync(packed) : packed;
  if (kind === 'pdf' && bytes.length < MIN_PDF_BYTES) return undefined;
  await writeFile(to, bytes);
  return to;
}
