import { anyOf, BUDGET, type Candidates, chooseCandidates, type Unit, unitOf } from './candidates.ts';
import { isMisspelling } from './spelling.ts';
import { isCutInPairs, lexeme, STEM, type Term } from './terms.ts';

/** A word of the index that a word of the query stands for. */
export interface KnownWord {
  /**
   * Position of the word in the query, from 1. 0: all passages of the workspace. -1: the searched passages; `found` are those that have no stems yet, counted up
   * to 10,000. -2: `passages` is the average length of the searched passages. -3: `word` is
   * the language of most of them.
   */
  ordinal: number;
  /** Without accents. A stem begins with `STEM`. */
  word: string;
  /** Number of passages of the workspace with this word; 0 for a stem. */
  passages: number;
  /** Number of searched passages with this word or stem, as far as they have stems. A word of one passage of a large source may count as none. */
  found: number;
  /** 1 for the word itself and its stems; the share of common trigrams for a similar word. */
  likeness: number;
}

/** One part of a passage's score. */
export interface Part {
  /** As tsquery takes it; one word where it is graded. */
  query: string;
  weight: number;
  /** In passages without stems. */
  plainWeight: number;
  /** Whether more occurrences in a passage give a higher score. */
  graded: boolean;
}

/** What is known of a word of the query. */
export interface AskedWord {
  ordinal: number;
  word: string;
  /** Without `STEM` before them. */
  stems: string[];
  /** Other words that stand in for it: inflections, or what it may be a misspelling of. */
  others: string[];
  /** Estimated number of searched passages that have it in any form. */
  passages: number;
  /** Inverse document frequency over the searched passages. */
  rarity: number;
}

/** The plan of a text search. */
export interface Plan {
  candidates: Candidates;
  /** The passages to rank when the first ones are too few; undefined when there are no others. */
  wider: Candidates | undefined;
  parts: Part[];
  /** Of the searched passages, in words. */
  averageLength: number;
  /** The words that count, the rarest first. */
  words: AskedWord[];
}

/** The count of the searched passages stops here. */
const COUNTED = 10_000;
/** Only so many words of the query count, the rarest first. */
const MAX_WORDS = 16;
/** The same, where pairs of characters are words, too. A sentence has more of those than words, and the rarest pairs are those between two words. */
const MAX_WORDS_AND_PAIRS = 32;
/** Share of a word's weight that a passage gets for its stem. It gets the rest for the word as it was asked for. */
const BY_STEM = 0.75;

/** Weight of a similar word that replaces a word of the query, before its likeness. */
const INFLECTION = 0.5;
const CORRECTION = 0.8;
/** What is left of an inflection's weight where stems say what is an inflection. It is for compounds, such as a German word that begins another one. */
const BESIDE_STEMS = 0.4;

/** A word that the index lacks is replaced by words of at least this likeness, or with few typing errors. */
const LIKE_ENOUGH = 0.5;
/** Weight of two words that follow each other as in the query, as a share of the more common one. */
const ADJACENT = 0.25;

/** For passages of before, whose length is not known: all count as equally long. */
const UNKNOWN_LENGTH = 100;

/** A word of the query as the index knows it. */
interface Concept extends AskedWord {
  /** The word and its stems; undefined when the index lacks the word. */
  own: Unit | undefined;
  /** The query for the word alone. */
  exact: string | undefined;
  exactRarity: number;
  /** Words that replace it. */
  replacements: Unit[];
  replacementWeight: number;
}

/** How common words are in the searched passages. */
interface Frequencies {
  /** Passages of the workspace. */
  all: number;
  searched: number;
  /** Searched passages that have no stems yet. */
  unindexed: number;
}

/**
 * Decides which passages are ranked, and by which parts. A rare word counts more than a common one (inverse document frequency as
 * in BM25, over the searched passages), its stem less than the word itself, a similar word still less; words that follow each other as in the query count more.
 * Words that are too common to rank all their passages must occur together. Returns undefined when the index has none of the words.
 * @param asked the words of the query by their ordinals: the first is 1
 */
export function planSearch(known: readonly KnownWord[], asked: readonly Term[]): Plan | undefined {
  const all = Math.max(1, known.find(({ ordinal }) => ordinal === 0)?.passages ?? 1);
  const scope = known.find(({ ordinal }) => ordinal === -1);
  const isCounted = scope !== undefined && scope.found < COUNTED;
  const searched = Math.max(1, isCounted ? Math.min(scope.passages, all) : all);
  const averageLength = known.find(({ ordinal }) => ordinal === -2)?.passages || UNKNOWN_LENGTH;
  const concepts = rarestOf(conceptsOf(known, { all, searched, unindexed: isCounted ? scope.found : all }));
  if (concepts.length === 0) return undefined;
  const parts = concepts.flatMap(partsOf).concat(adjacentParts(concepts, asked));
  const words = concepts.map(({ ordinal, word, stems, others, passages, rarity }) => ({
    ordinal,
    word,
    stems,
    others,
    passages,
    rarity,
  }));
  if (searched <= BUDGET)
    return { candidates: { query: null, inverted: false }, wider: undefined, parts, averageLength, words };
  const { expected, query, wider } = chooseCandidates(concepts, searched, searched >= COUNTED);
  // The index finds the passages of a word; the filter by source comes after.
  const inverted = searched >= COUNTED || (expected * all) / searched < searched;
  return {
    candidates: { query, inverted },
    wider: wider === undefined ? undefined : { query: wider, inverted: searched >= COUNTED },
    parts,
    averageLength,
    words,
  };
}

function rarestOf(concepts: readonly Concept[]): Concept[] {
  let words = 0;
  return [...concepts]
    .sort((a, b) => b.rarity - a.rarity)
    .filter(({ word }) => {
      if (isCutInPairs(word)) return true;
      words += 1;
      return words <= MAX_WORDS;
    })
    .slice(0, MAX_WORDS_AND_PAIRS);
}

function conceptsOf(known: readonly KnownWord[], frequencies: Frequencies): Concept[] {
  const { all, searched, unindexed } = frequencies;
  const isStem = ({ word }: KnownWord) => word.startsWith(STEM);
  const rarityOf = (passages: number) =>
    Math.log(1 + (searched - Math.min(passages, searched) + 0.5) / (passages + 0.5));
  const concepts: Concept[] = [];
  for (const exact of known.filter((one) => one.ordinal > 0 && one.likeness === 1 && !isStem(one))) {
    const mine = known.filter((one) => one.ordinal === exact.ordinal && one !== exact);
    const stems = mine.filter(isStem).filter((one) => one.found > 0 || one.word !== STEM + exact.word);
    const isThere = exact.passages > 0 || stems.some(({ found }) => found > 0);
    // Where nothing was counted yet, the workspace tells.
    const elsewhere = (exact.passages * unindexed) / all;
    const exactPassages = Math.max(exact.found + elsewhere, Math.min(1, exact.passages));
    const passages = Math.max(exactPassages, ...stems.map(({ found }) => found + elsewhere));
    const others = mine.filter(
      (one) => !isStem(one) && (isThere || one.likeness >= LIKE_ENOUGH || isMisspelling(exact.word, one.word)),
    );
    if (!isThere && others.length === 0) continue;
    const rarity = isThere ? rarityOf(passages) : Number.POSITIVE_INFINITY;
    const usual = (one: KnownWord) => (one.passages * searched) / all;
    const worth = (one: KnownWord) =>
      (isThere ? INFLECTION * one.likeness : CORRECTION * Math.max(one.likeness, LIKE_ENOUGH)) *
      Math.min(rarity, rarityOf(usual(one)));
    const replacementWeight = Math.max(0, ...others.map(worth));
    // The same word can look like an inflection and like a typing error.
    const replacements = new Map(others.map((one) => [one.word, unitOf([one.word], usual(one))]));
    concepts.push({
      ordinal: exact.ordinal,
      word: exact.word,
      stems: stems.map(({ word }) => word.slice(STEM.length)),
      others: [...replacements.keys()],
      passages,
      rarity: isThere ? rarity : replacementWeight,
      own: isThere
        ? unitOf(
            [exact, ...stems].map(({ word }) => word),
            passages,
          )
        : undefined,
      exact: exact.passages > 0 ? lexeme(exact.word) : undefined,
      exactRarity: rarityOf(exactPassages),
      replacements: [...replacements.values()],
      replacementWeight,
    });
  }
  return concepts;
}

function partsOf({ own, exact, stems, rarity, exactRarity, replacements, replacementWeight }: Concept): Part[] {
  const parts: Part[] = [];
  const share = own && stems.length > 0 ? BY_STEM : 0;
  if (own) {
    for (const stem of stems)
      parts.push({ query: lexeme(STEM + stem), weight: share * rarity, plainWeight: 0, graded: true });
  }
  if (exact !== undefined)
    parts.push({ query: exact, weight: (1 - share) * exactRarity, plainWeight: exactRarity, graded: true });
  if (replacements.length > 0) {
    const beside = share > 0 ? BESIDE_STEMS : 1;
    parts.push({
      query: anyOf(replacements),
      weight: beside * replacementWeight,
      plainWeight: replacementWeight,
      graded: false,
    });
  }
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
    const weight = ADJACENT * Math.min(first.rarity, second.rarity);
    return [{ query: `${first.exact} <-> ${second.exact}`, weight, plainWeight: weight, graded: false }];
  });
}
