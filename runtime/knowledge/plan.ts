import { isMisspelling } from './spelling.ts';
import { lexeme, type Term } from './terms.ts';

/** A word of the index that a word of the query stands for. */
export interface KnownWord {
  /** Which word of the query, from 1. 0: all passages of the workspace. -1: those that are searched, counted up to 10,000. */
  ordinal: number;
  /** Without accents. */
  word: string;
  /** How many passages of the workspace have it. */
  passages: number;
  /** 1 for the word itself; for words like it the share of common trigrams. */
  likeness: number;
}

/** One thing that ranks a passage. */
export interface Part {
  /** As tsquery takes it. */
  query: string;
  weight: number;
  /** Whether it counts more the oftener it is there. */
  graded: boolean;
}

/** Which passages are ranked. */
export interface Candidates {
  /** As tsquery takes it; null: all of the sources. */
  query: string | null;
  /** Whether the inverted index finds them, which goes through those of the whole workspace. If not, all of the sources are read. */
  inverted: boolean;
}

/** How a text search goes. */
export interface Plan {
  candidates: Candidates;
  /** What is ranked when those are too few; undefined when there are no others. */
  wider: Candidates | undefined;
  parts: Part[];
}

/** Passages that a search ranks, as far as statistics can tell. Each costs about 15 µs: reading its words, and trying a score of parts. */
const BUDGET = 700;
/** Where the count of the searched passages ends. */
const COUNTED = 10_000;
/** Words of the query that count: the rarest. */
const MAX_WORDS = 16;
/** What a word found in place of the one that was asked for is worth, before its likeness. */
const INFLECTION = 0.5;
const CORRECTION = 0.8;
/** A word that is not there is looked for by words this like it, or with few typing errors between. */
const LIKE_ENOUGH = 0.5;
/** What two words that follow each other as in the query are worth, as a share of the commoner one. */
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
  /** Words in its place. */
  others: Unit[];
  othersWeight: number;
}

/**
 * Decides which passages are worth ranking, and by what. A rare word tells more than a common one (inverse document frequency as
 * in BM25), a word found in place of another counts less, words that follow each other as in the query count more. Words so
 * common that ranking all their passages would take too long must come together. Undefined when no word is known.
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
  // The index is asked for a word, and the sources are looked at after.
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

/** All passages with one of the rare words, and those where enough of the common ones come together. */
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
  // Words that nearly all passages have do not tell them apart, however many come together: that is for queries of nothing else.
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
