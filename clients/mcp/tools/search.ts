import type { ToolRow } from './table.ts';
import { meantBy, wordsOf } from './words.ts';

/** How much a word counts by where it stands. */
const IN_TITLE = 3;
const IN_NAME = 2;
const IN_NOTE = 1;
const IN_FIELDS = 0.6;
/** What a word counts that is only meant by a word of the question. */
const MEANT = 0.6;
/** How much it counts that the title is about nothing else. */
const WHOLE_TITLE = 0.5;

interface Entry {
  row: ToolRow;
  words: Map<string, number>;
  title: Set<string>;
}

/** A search of tools by words, without a model: made once for a set of tools. */
export class ToolSearch {
  readonly #entries: Entry[];
  readonly #tools = new Map<string, number>();

  constructor(rows: readonly ToolRow[]) {
    this.#entries = rows.map(knownEntry);
    for (const { words } of this.#entries)
      for (const word of words.keys()) this.#tools.set(word, (this.#tools.get(word) ?? 0) + 1);
  }

  /** The tools that fit a question best, the best first. Empty when no word of it is known. */
  find(question: string, limit: number): ToolRow[] {
    const wanted = new Map<string, number>();
    for (const word of wordsOf(question.slice(0, 1000)).slice(0, 40)) {
      wanted.set(word, 1);
      for (const other of meantBy(word)) if (!wanted.has(other)) wanted.set(other, MEANT);
    }
    return this.#entries
      .map((entry) => ({ row: entry.row, score: this.#score(entry, wanted) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ row }) => row);
  }

  #score({ words, title }: Entry, wanted: ReadonlyMap<string, number>): number {
    let score = 0;
    for (const [word, weight] of wanted) score += weight * (words.get(word) ?? 0) * this.#rarity(word);
    const covered = [...title].filter((word) => wanted.has(word)).length;
    return score * (1 + (WHOLE_TITLE * covered) / Math.max(1, title.size));
  }

  /** A word that few tools have says more. */
  #rarity(word: string): number {
    return Math.log(1 + this.#entries.length / (this.#tools.get(word) ?? 1));
  }
}

/** Rows are the same for the whole life of the program, and a server makes a search for each request. */
const entries = new WeakMap<ToolRow, Entry>();

function knownEntry(row: ToolRow): Entry {
  const known = entries.get(row) ?? entryOf(row);
  entries.set(row, known);
  return known;
}

function entryOf(row: ToolRow): Entry {
  const { tool } = row;
  const title = wordsOf(tool.title ?? '');
  const words = new Map<string, number>();
  const add = (found: readonly string[], weight: number) => {
    for (const word of found) words.set(word, Math.max(words.get(word) ?? 0, weight));
  };
  add(title, IN_TITLE);
  add(wordsOf(tool.name), IN_NAME);
  add(wordsOf(tool.description ?? ''), IN_NOTE);
  add(wordsOf(namesIn(tool.inputSchema).join(' ')), IN_FIELDS);
  return { row, words, title: new Set(title) };
}

/** Names of fields, values of enums, and what is said of them. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'properties')
      return [...Object.keys(value as object), ...Object.values(value as object).flatMap(namesIn)];
    if (key === 'enum') return (value as unknown[]).map(String);
    if (key === 'title' || key === 'description') return typeof value === 'string' ? [value] : namesIn(value);
    return namesIn(value);
  });
}
