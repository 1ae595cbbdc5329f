import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { shorten } from '../../../core/text.ts';
import type { Block } from '../../../runtime/knowledge/extract/blocks.ts';
import type { Passage } from '../../../runtime/knowledge/passages.ts';
import { splitBlocks } from '../../../runtime/knowledge/split.ts';

/** A book of the corpus as the service would store it. */
export interface Book {
  name: string;
  passages: Passage[];
  /** The section of each passage, by its `seq`: the id that it has in every translation. */
  sections: (string | undefined)[];
}

/** What people ask, by language, and the sections that answer it. */
export interface Question {
  sections: readonly string[];
  en: string;
  /** Whether it was written when the ranking stood, without a look at what it finds. */
  heldOut?: boolean;
  [language: string]: string | boolean | readonly string[] | undefined;
}

const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/retrieval');
const run = promisify(execFile);

/** A package of Debian that has a book, and the web pages of it in a folder. */
interface BookPackage {
  package: string;
  folder: string;
  pages: RegExp;
}

/** Debian's packages with the two books, by language. Both are one text in several languages, with the same ids of sections. */
const PACKAGES: Readonly<Record<string, readonly BookPackage[]>> = Object.fromEntries(
  ['en', 'de', 'fr', 'it', 'ja'].map((language) => [
    language,
    [
      {
        package: language === 'en' ? 'debian-faq' : `debian-faq-${language}`,
        folder: language === 'en' ? 'usr/share/doc/debian/FAQ' : `usr/share/doc/debian/FAQ/${language}`,
        pages: new RegExp(`\\.${language}\\.html$`),
      },
      {
        package: `debian-reference-${language}`,
        folder: 'usr/share/debian-reference',
        pages: new RegExp(`^(?:index|ch\\d+)\\.${language}\\.html$`),
      },
    ],
  ]),
);

/** The languages of the corpus. */
export const LANGUAGES: readonly string[] = Object.keys(PACKAGES);

/** The packages with the books of a language. */
export const bookPackages = (language: string): readonly BookPackage[] => PACKAGES[language] ?? [];

/** Whether weights must not be chosen with a question: the new ones, and every other of the older ones, by a hash. */
export function isHeldOut({ en, heldOut = false }: Question): boolean {
  return heldOut || (createHash('sha256').update(en).digest()[0] ?? 0) % 2 === 1;
}

/** The questions, which were written from the books. */
export async function readQuestions(): Promise<Question[]> {
  return JSON.parse(await readFile(join(import.meta.dirname, 'questions.json'), 'utf8')) as Question[];
}

/** The books of a language. Their packages are fetched once, with apt. Throws where that cannot be done. */
export async function readBooks(language: string): Promise<Book[]> {
  const books: Book[] = [];
  for (const { package: name, folder, pages } of bookPackages(language)) {
    const path = join(await unpacked(name), folder);
    const files = (await readdir(path)).filter((file) => pages.test(file)).sort();
    const blocks: SectionBlock[] = [];
    for (const file of files) blocks.push(...blocksOf(await readFile(join(path, file), 'utf8')));
    books.push({ name, ...(await bookOf(blocks)) });
  }
  return books;
}

/** The folder of a package, which is fetched once, with apt. Throws where that cannot be done. */
export async function unpacked(name: string): Promise<string> {
  const folder = join(FOLDER, name);
  const isThere = await readdir(folder).then(
    () => true,
    () => false,
  );
  if (isThere) return folder;
  await mkdir(FOLDER, { recursive: true });
  try {
    await run('apt-get', ['download', name], { cwd: FOLDER });
    const file = (await readdir(FOLDER)).find((each) => each.startsWith(`${name}_`)) ?? name;
    await run('dpkg-deb', ['-x', join(FOLDER, file), folder]);
  } catch (error) {
    throw new Error(`The retrieval bench needs Debian's package ${name}: it was not fetched by apt-get.`, {
      cause: error,
    });
  }
  return folder;
}

type SectionBlock = Block & { section?: string | undefined };

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/** The text of a piece of HTML. */
export function plain(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replace(/[ \t\u00a0]+/g, ' ')
    .trim();
}

/** The blocks of a page that DocBook's stylesheets made. The table of contents at the beginning of a book is a part of it. */
function blocksOf(page: string): SectionBlock[] {
  const body = page
    .replace(/<div class="nav(?:header|footer)">[\s\S]*?<\/table>/g, '')
    .replace(/<(script|style|title)[^>]*>[\s\S]*?<\/\1>/g, '');
  const isBook = /<div class="book">|class="book"/.test(body);
  const inside = isBook ? body : body.replace(/<div class="toc">[\s\S]*?<\/div>/g, '');
  const blocks: SectionBlock[] = [];
  const pieces =
    /<h([1-6])[^>]*class="title"[^>]*>([\s\S]*?)<\/h\1>|<pre[^>]*>([\s\S]*?)<\/pre>|<tr[^>]*>([\s\S]*?)<\/tr>|<(?:p|dt|dd|li)(?:\s[^>]*)?>([\s\S]*?)(?=<\/?(?:p|dt|dd|li|pre|table|div|ul|ol|dl|h[1-6])[\s>])/g;
  for (const [, level, title, code, row, text] of inside.matchAll(pieces)) {
    if (title !== undefined) {
      const id = /(?:id|name)="([^"]+)"/.exec(title)?.[1];
      blocks.push({ type: 'heading', level: Number(level), text: plain(title), section: id });
    } else if (code !== undefined) blocks.push({ type: 'paragraph', text: plain(code) });
    else if (row !== undefined)
      blocks.push({ type: 'row', text: plain(row.replace(/<\/t[dh]>/g, ' ; ')).replace(/\s+/g, ' ') });
    else if (text !== undefined && plain(text) !== '')
      blocks.push({ type: isBook ? 'row' : 'paragraph', text: plain(text).replace(/\s+/g, ' ') });
  }
  return blocks;
}

async function bookOf(blocks: readonly SectionBlock[]): Promise<Pick<Book, 'passages' | 'sections'>> {
  const byPath = new Map<string, string>();
  const open: { level: number; text: string }[] = [];
  for (const { type, level = 1, text, section } of blocks) {
    if (type !== 'heading' || section === undefined) continue;
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    // As `split.ts` writes the path of a passage.
    open.push({ level, text: shorten(text.replace(/\s+/g, ' '), 150) });
    const texts = open.map((each) => each.text);
    while (texts.length > 1 && texts.join(' > ').length > 500) texts.shift();
    byPath.set(texts.join(' > '), section);
  }
  const passages: Passage[] = [];
  for await (const passage of splitBlocks(blocks)) passages.push(passage);
  return { passages, sections: passages.map(({ heading }) => (heading === null ? undefined : byPath.get(heading))) };
}
