import { isMisspelling } from './spelling.ts';
import { lexeme, type Term } from './terms.ts';

/** A word of the index that a word of the query stands for. */
export interface KnownWord {
  /** Position of the word in the query, from 1. 0: all passages of the workspace. -1: the searched passages, counted up to 10,000. */
  ordinal: number;
  /** Without accents. */
  word: string;
  /** Number of passages of the workspace with this word. */
  passages: number;
  /** 1 for the word itself; the share of common trigrams for a similar word. */
  likeness: number;
}

/** One part of a passage's score. */
export interface Part {
  /** As tsquery takes it. */
  query: string;
  weight: number;
  /** Whether more occurrences in a passage give a higher score. */
  graded: boolean;
}

/** Which passages are ranked. */
export interface Candidates {
  /** As tsquery takes it; null: all of the sources. */
  query: string | null;
  /** Whether to use the inverted index, which covers the whole workspace. If not, all passages of the sources are read. */
  inverted: boolean;
}

/** The plan of a text search. */
export interface Plan {
  candidates: Candidates;
  /** The passages to rank when the first ones are too few; undefined when there are no others. */
  wider: Candidates | undefined;
  parts: Part[];
}

/** Estimated maximum of ranked passages. Each costs about 15 µs: reading its words, and scoring the parts of the plan. */
const BUDGET = 700;
/** The count of the searched passages stops here. */
const COUNTED = 10_000;
/** Only so many words of the query count, the rarest first. */
const MAX_WORDS = 16;
/** Weight of a similar word that replaces a word of the query, before its likeness. */
const INFLECTION = 0.5;
const CORRECTION = 0.8;
/** A word that the index lacks is replaced by words of at least this likeness, or with few typing errors. */
const LIKE_ENOUGH = 0.5;
/** Weight of two words that follow each other as in the query, as a share of the more common one. */
const ADJACENT = 0.5;

/** A word to look for, and how many of the searched passages should have it. */
interface Unit {
  query: string;
  expected: number;
}

/** A word of the query as the index knows it. */
interface Concept {
  ordinal: number;
  weight: number;
  exact: Unit | undefined;
  /** Words that replace it. */
  others: Unit[];
  othersWeight: number;
}

/**
 * Decides which passages are ranked, and by which parts. A rare word counts more than a common one (inverse document frequency as
 * in BM25), a similar word counts less, words that follow each other as in the query count more. Words that are too common to rank
 * all their passages must occur together. Returns undefined when the index has none of the words.
 * @param asked the words of the query by their ordinals: the first is 1
 */
export function planSearch(known: readonly KnownWord[], asked: readonly Term[]): Plan | undefined {
  const all = Math.max(1, ...known.map((one) => one.passages));
  const counted = known.find((one) => one.ordinal === -1)?.passages ?? COUNTED;
  const searched = counted < COUNTED ? Math.min(counted, all) : all;
  const concepts = conceptsOf(known, all, searched)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_WORDS);
  if (concepts.length === 0) return undefined;
  const parts = concepts.flatMap(partsOf).concat(adjacentParts(concepts, asked));
  if (searched <= BUDGET) return { candidates: { query: null, inverted: false }, wider: undefined, parts };
  const { expected, query, wider } = chooseCandidates(concepts, searched);
  // The index finds the passages of a word; the filter by source comes after.
  const inverted = counted >= COUNTED || (expected * all) / searched < searched;
  return {
    candidates: { query, inverted },
    wider: wider === undefined ? undefined : { query: wider, inverted: counted >= COUNTED },
    parts,
  };
}

function conceptsOf(known: readonly KnownWord[], all: number, searched: number): Concept[] {
  const idf = ({ passages }: KnownWord) => Math.log(1 + (all - passages + 0.5) / (passages + 0.5));
  const unit = ({ word, passages }: KnownWord) => ({ query: lexeme(word), expected: (passages * searched) / all });
  const concepts: Concept[] = [];
  for (const own of known.filter(({ ordinal, likeness }) => ordinal > 0 && likeness === 1)) {
    const there = own.passages > 0;
    const others = known.filter(
      (one) =>
        one.ordinal === own.ordinal &&
        one !== own &&
        (there || one.likeness >= LIKE_ENOUGH || isMisspelling(own.word, one.word)),
    );
    if (!there && others.length === 0) continue;
    const ownWeight = there ? idf(own) : Number.POSITIVE_INFINITY;
    const worth = (one: KnownWord) =>
      (there ? INFLECTION * one.likeness : CORRECTION * Math.max(one.likeness, LIKE_ENOUGH)) *
      Math.min(ownWeight, idf(one));
    const othersWeight = Math.max(0, ...others.map(worth));
    concepts.push({
      ordinal: own.ordinal,
      weight: there ? ownWeight : othersWeight,
      exact: there ? unit(own) : undefined,
      // The same word can look like an inflection and like a typing error.
      others: [...new Map(others.map((one) => [one.word, unit(one)])).values()],
      othersWeight,
    });
  }
  return concepts;
}

function partsOf({ exact, weight, others, othersWeight }: Concept): Part[] {
  const parts: Part[] = [];
  if (exact) parts.push({ query: exact.query, weight, graded: true });
  if (others.length > 0) parts.push({ query: anyOf(others), weight: othersWeight, graded: false });
  return parts;
}

function adjacentParts(concepts: readonly Concept[], asked: readonly Term[]): Part[] {
  const byPosition = new Map<number, Concept>();
  for (const concept of concepts) {
    const position = asked[concept.ordinal - 1]?.position;
    if (position !== undefined && !byPosition.has(position)) byPosition.set(position, concept);
  }
  return [...byPosition].flatMap(([position, first]) => {
    const second = byPosition.get(position + 1);
    if (!first.exact || !second?.exact) return [];
    const weight = ADJACENT * Math.min(first.weight, second.weight);
    return [{ query: `${first.exact.query} <-> ${second.exact.query}`, weight, graded: false }];
  });
}

/** Selects all passages with one of the rare words, and those with enough of the common ones together. */
function chooseCandidates(
  concepts: readonly Concept[],
  searched: number,
): { query: string; expected: number; wider: string | undefined } {
  const units = concepts.flatMap(({ exact, others }) => (exact ? [exact, ...others] : others));
  units.sort((a, b) => a.expected - b.expected);
  const rare: Unit[] = [];
  let room = BUDGET;
  for (const unit of units) {
    if (unit.expected > room) break;
    rare.push(unit);
    room -= unit.expected;
  }
  const common = units.slice(rare.length);
  const words = new Set(concepts.map(({ exact, others }) => exact ?? others[0]));
  const together: Unit[] = [];
  let expected = searched;
  for (const unit of common) {
    if (expected <= room) break;
    if (!words.has(unit) || together.some(({ query }) => query === unit.query)) continue;
    together.push(unit);
    expected *= unit.expected / searched;
  }
  const chosen = rare.map(({ query }) => query);
  let sum = BUDGET - room;
  // Words in nearly all passages do not tell passages apart, even together. They only count when the query has no others.
  if (together.length > 1 && (expected <= room || chosen.length === 0)) {
    chosen.push(`(${together.map(({ query }) => query).join(' & ')})`);
    sum += expected;
  }
  const [first] = common;
  const wider = first && anyOf([...rare, first]);
  if (chosen.length > 0) return { query: chosen.join(' | '), expected: sum, wider };
  return { query: wider ?? '', expected: first?.expected ?? 0, wider: undefined };
}

function anyOf(units: readonly Unit[]): string {
  return units.map(({ query }) => query).join(' | ');
}
