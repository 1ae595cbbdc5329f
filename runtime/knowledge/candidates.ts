import { lexeme } from './terms.ts';

/** Which passages are ranked. */
export interface Candidates {
  /** As tsquery takes it; null: all of the sources. */
  query: string | null;
  /** Whether to use the inverted index, which covers the whole workspace. If not, all passages of the sources are read. */
  inverted: boolean;
}

/** Estimated maximum of ranked passages. Each costs about 25 µs: reading its words, and scoring the parts of the plan. */
export const BUDGET = 700;
/** The same in a large collection, where nearly every passage is on a page that must be read first. */
const BUDGET_IN_MANY = 400;
/** What words by themselves may take of it. The rest is for pairs of words, which say more of a passage. */
const SHARE_OF_SINGLE_WORDS = 0.7;
/** Passages that the index goes through to find those with pairs of words: each costs about 1 µs. */
const MAX_VISITED_FOR_PAIRS = 6_000;

/** A word to look for, and how many of the searched passages should have it. */
export interface Unit {
  query: string;
  /** The words and stems of `query`, as tsquery takes them. */
  lexemes: readonly string[];
  expected: number;
}

/** What is needed of a word of the query. */
interface Wanted {
  own: Unit | undefined;
  stems: readonly string[];
  replacements: readonly Unit[];
}

/** One of the words, in any of its forms. */
export function unitOf(words: readonly string[], expected: number): Unit {
  const lexemes = words.map(lexeme);
  return { query: lexemes.join(' | '), lexemes, expected };
}

/**
 * Selects all passages with one of the rare words, and those with enough of the common ones together: in a large collection with two, where these are rare enough, otherwise with
 * as many as it takes.
 */
export function chooseCandidates(
  concepts: readonly Wanted[],
  searched: number,
  isLarge: boolean,
): { query: string; expected: number; wider: string | undefined } {
  const units = inTurns(concepts, isLarge);
  const budget = isLarge ? BUDGET_IN_MANY : BUDGET;
  let rare = takeFirst(units, isLarge && concepts.length > 1 ? budget * SHARE_OF_SINGLE_WORDS : budget);
  const pairs = isLarge
    ? takePairs(differentWords(concepts, units.slice(rare.length)), searched, budget - sumOf(rare))
    : { queries: [], sum: 0 };
  if (pairs.queries.length === 0) rare = takeFirst(units, budget);
  const chosen = [...rare.map(({ query }) => query), ...pairs.queries];
  let sum = sumOf(rare) + pairs.sum;
  const common = units.slice(rare.length);
  if (pairs.queries.length === 0) {
    const words = isLarge ? differentWords(concepts, common) : wordsOf(concepts, common);
    const { together, expected } = takeTogether(words, searched, budget - sum);
    // Words in nearly all passages do not tell passages apart, even together. They only count when the query has no others.
    if (together.length > 1 && (expected <= budget - sum || chosen.length === 0)) {
      chosen.push(`(${together.map(bracketed).join(' & ')})`);
      sum += expected;
    }
  }
  const [first] = common;
  const wider = first && anyOf([...rare, first]);
  if (chosen.length > 0) return { query: chosen.join(' | '), expected: sum, wider };
  return { query: wider ?? '', expected: first?.expected ?? 0, wider: undefined };
}

/** The rarest first. */
function inTurns(concepts: readonly Wanted[], isLarge: boolean): Unit[] {
  // In a large collection the room is scarce. What is like a word that has stems says less than the word, so it comes after it.
  const turns = concepts.flatMap(({ own, stems, replacements }) => {
    const least = isLarge && own && stems.length > 0 ? own.expected : 0;
    return [...(own ? [own] : []), ...replacements].map((unit) => ({ unit, turn: Math.max(least, unit.expected) }));
  });
  return turns.sort((a, b) => a.turn - b.turn).map(({ unit }) => unit);
}

function takeFirst(units: readonly Unit[], room: number): Unit[] {
  let sum = 0;
  const end = units.findIndex(({ expected }) => {
    sum += expected;
    return sum > room;
  });
  return end < 0 ? [...units] : units.slice(0, end);
}

function sumOf(units: readonly Unit[]): number {
  return units.reduce((sum, { expected }) => sum + expected, 0);
}

/** The rarest pairs of common words, each with all that it is paired with. */
function takePairs(words: readonly Unit[], searched: number, room: number): { queries: string[]; sum: number } {
  const pairs = words.flatMap((first, at) =>
    words.slice(at + 1).map((second) => ({ first, second, expected: (first.expected * second.expected) / searched })),
  );
  const seconds = new Map<Unit, Unit[]>();
  const visited = new Set<Unit>();
  let sum = 0;
  for (const { first, second, expected } of pairs.sort((a, b) => a.expected - b.expected)) {
    // The index goes through all but the most common one.
    const all = [...new Set([...visited, first, second])];
    const cost = sumOf(all) - Math.max(...all.map((unit) => unit.expected));
    if (sum + expected > room || (visited.size > 0 && cost > MAX_VISITED_FOR_PAIRS)) break;
    sum += expected;
    visited.add(first).add(second);
    seconds.set(first, [...(seconds.get(first) ?? []), second]);
  }
  const queries = [...seconds].map(([first, others]) => {
    const other = others.length === 1 ? others.map(bracketed).join('') : `(${anyOf(others)})`;
    return `(${bracketed(first)} & ${other})`;
  });
  return { queries, sum };
}

/** One unit of each word of the query. Passages with a word have it however often it is asked for, misspelt or in another form: that is no second word. */
function differentWords(concepts: readonly Wanted[], common: readonly Unit[]): Unit[] {
  const asked = new Set(concepts.flatMap(({ own }) => own?.lexemes ?? []));
  const standing = new Set(
    concepts.map(({ own, replacements: [other] }) => own ?? (other && !asked.has(other.query) ? other : undefined)),
  );
  const taken = new Set<string>();
  return common.filter((unit) => {
    if (!standing.has(unit) || unit.lexemes.some((one) => taken.has(one))) return false;
    for (const one of unit.lexemes) taken.add(one);
    return true;
  });
}

/** The same as far as two units are equal: in smaller collections, more than that finds less. */
function wordsOf(concepts: readonly Wanted[], common: readonly Unit[]): Unit[] {
  const standing = new Set(concepts.map(({ own, replacements }) => own ?? replacements[0]));
  const taken = new Set<string>();
  return common.filter((unit) => standing.has(unit) && !taken.has(unit.query) && taken.add(unit.query));
}

/** As many common words as it takes for their passages to fit. */
function takeTogether(words: readonly Unit[], searched: number, room: number): { together: Unit[]; expected: number } {
  const together: Unit[] = [];
  let expected = searched;
  for (const unit of words) {
    if (expected <= room) break;
    together.push(unit);
    expected *= unit.expected / searched;
  }
  return { together, expected };
}

function bracketed({ query }: Unit): string {
  return query.includes(' | ') ? `(${query})` : query;
}

/** A query for any of the units. */
export function anyOf(units: readonly Unit[]): string {
  return units.map(({ query }) => query).join(' | ');
}
