import { insertEmbeddings, updateEmbeddings } from '../../db/queries/knowledge/knowledgeEmbeddings.ts';
import { insertVectors } from '../../db/queries/knowledge/knowledgePassages.ts';
import { nearestPassages } from '../../db/queries/knowledge/knowledgeSearch.ts';
import { inTransaction } from '../../db/transaction.ts';
import { signsOf } from '../../runtime/knowledge/embeddings.ts';
import type { KnowledgeContext, Passage } from '../../runtime/knowledge/passages.ts';
import { comparedVectors, searchKnowledge } from '../../runtime/knowledge/search.ts';
import { addSource, inKnowledgeWorkspace } from './knowledgeWorkspace.ts';
import type { Figure } from './report.ts';
import { median, quantile, spread } from './stats.ts';
import type { World } from './world.ts';

const SOURCES = 50;
const PASSAGES = 2_000;
const WORDS = 180;
const WARM_UP = 40;
const ROUNDS = 5;
const SEARCHES = 100;
const VECTOR_SEARCHES = 40;
const MODEL = 'bench/model';

/**
 * Measures the search in a workspace with 100,000 passages as an agent's turn runs it: over the pool, as guildhall_app, with questions of
 * four to twelve words, one in five misspelt. `vectors`: also measures the search by meaning for vectors of these lengths, without
 * the time of the embedding model. Storing the vectors takes minutes.
 */
export async function measureKnowledgeSearch(
  world: Pick<World, 'databaseUrl'>,
  options: { vectors?: readonly number[] } = {},
): Promise<Figure[]> {
  return await inKnowledgeWorkspace(world, 'knowledge', async (context) => {
    const library = new Library();
    const { sourceIds, stored } = await fill(context, library);
    const all = await search(context, library, sourceIds);
    const one = await search(context, library, sourceIds.slice(0, 1));
    const rounds = all.map((times) => quantile(times, 0.95));
    const times = all.flat();
    const figures: Figure[] = [
      {
        measure: 'knowledge',
        name: 'search of 100,000 passages: p95',
        value: median(rounds),
        unit: 'ms',
        target: { limit: 50, is: 'at most' },
        note: `p50 ${median(times).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(0)} ms; rounds ${spread(rounds, 1)}`,
      },
      {
        measure: 'knowledge',
        name: 'search of one source of 50: p95',
        value: median(one.map((round) => quantile(round, 0.95))),
        unit: 'ms',
        note: `2,000 of 100,000 passages; p50 ${median(one.flat()).toFixed(1)} ms`,
      },
      {
        measure: 'knowledge',
        name: 'indexing 2,000 passages',
        value: median(stored) / 1000,
        unit: 's',
        note: `${WORDS} words each; sources ${spread(stored, 0)} ms`,
      },
    ];
    for (const dimensions of options.vectors ?? []) {
      figures.push(await measureVectors(context, sourceIds, dimensions));
    }
    return figures;
  });
}

async function fill(context: KnowledgeContext, library: Library) {
  const sourceIds: string[] = [];
  const stored: number[] = [];
  for (let number = 0; number < SOURCES; number += 1) {
    const passages = Array.from({ length: PASSAGES }, (_, seq) => library.passage(seq));
    const began = performance.now();
    sourceIds.push(await addSource(context, `Source ${number + 1}`, passages));
    stored.push(performance.now() - began);
  }
  return { sourceIds, stored };
}

async function search(context: KnowledgeContext, library: Library, sourceIds: readonly string[]): Promise<number[][]> {
  const rounds: number[][] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const times: number[] = [];
    for (let count = 0; count < (round < 0 ? WARM_UP : SEARCHES); count += 1) {
      const query = library.question();
      const began = performance.now();
      await searchKnowledge(context, { query, sourceIds, limit: 8 });
      times.push(performance.now() - began);
    }
    if (round >= 0) rounds.push(times);
  }
  return rounds;
}

async function measureVectors(
  { db, workspaceId }: KnowledgeContext,
  sourceIds: readonly string[],
  dimensions: number,
): Promise<Figure> {
  const random = numbers(dimensions);
  // Vectors of texts about one subject are close to each other. Random vectors would not be a realistic question.
  const subjects = Array.from({ length: 200 }, () => Array.from({ length: dimensions }, () => normal(random)));
  const vector = (): number[] => {
    const subject = subjects[Math.floor(random() * subjects.length)] ?? [];
    const made = subject.map((value) => 0.7 * value + normal(random));
    const length = Math.hypot(...made);
    return made.map((value) => value / length);
  };
  for (const sourceId of sourceIds) {
    await inTransaction(db, async (trx) => {
      await trx.deleteFrom('knowledge_embeddings').where('source_id', '=', sourceId).execute();
      await insertEmbeddings(trx, workspaceId, sourceId, MODEL);
      await updateEmbeddings(trx, { workspaceId, sourceId, model: MODEL }, { dimensions });
      for (let start = 0; start < PASSAGES; start += 100) {
        const rows = Array.from({ length: 100 }, (_, index) => {
          const made = vector();
          return { seq: start + index, vector: made, signs: signsOf(made) };
        });
        await insertVectors(trx, workspaceId, sourceId, rows);
      }
    });
  }
  const times: number[] = [];
  for (let count = -10; count < VECTOR_SEARCHES; count += 1) {
    const asked = vector();
    const began = performance.now();
    await nearestPassages(db, workspaceId, {
      sourceIds,
      model: MODEL,
      vector: asked,
      signs: signsOf(asked),
      candidates: comparedVectors(dimensions, false),
      limit: 50,
      pgvector: false,
    });
    if (count >= 0) times.push(performance.now() - began);
  }
  return {
    measure: 'knowledge',
    name: `search by vectors of ${dimensions}: p95`,
    value: quantile(times, 0.95),
    unit: 'ms',
    note: `100,000 vectors without pgvector, beside the search by words; p50 ${median(times).toFixed(1)} ms`,
  };
}

/** Passages and questions in a made-up language. As in real ones, few words are common, most are rare, and words have endings. */
class Library {
  readonly #random = numbers(1);
  readonly #words: string[] = [];
  readonly #shares: number[] = [];
  #last: string[] = [];

  constructor() {
    const syllables =
      'ba be ca co da de fa fi ga go ha he ka ki la le li lo ma mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to va ve vi vo za zu';
    const choices = syllables.split(' ');
    const pick = () => choices[Math.floor(this.#random() * choices.length)] ?? '';
    const seen = new Set<string>();
    while (seen.size < 80_000) {
      const stem = Array.from({ length: 1 + Math.min(3, Math.floor(Math.log10(seen.size + 1))) }, pick).join('');
      for (const ending of seen.size < 300 ? [''] : ['', 's', 'rn', 'nda'].slice(0, 1 + Math.floor(this.#random() * 4)))
        seen.add(stem + ending);
    }
    this.#words.push(...seen);
    let sum = 0;
    for (let rank = 0; rank < this.#words.length; rank += 1) {
      sum += 1 / (rank + 2.7) ** 1.05;
      this.#shares.push(sum);
    }
  }

  passage(seq: number): Passage {
    const words = Array.from({ length: WORDS }, () => this.#word());
    if (seq % 20 === 0) words.push(`ORD-${Math.floor(this.#random() * 1e6)}`);
    if (this.#random() < 0.01) this.#last = words;
    const heading = seq % 4 === 0 ? words.slice(0, 4).join(' ') : null;
    return { seq, heading, page: 1 + (seq >> 2), content: words.join(' ') };
  }

  /** Words of a question, common ones among them, in part from one passage. */
  question(): string {
    const words = Array.from({ length: 4 + Math.floor(this.#random() * 9) }, (_, index) =>
      index % 2 === 0 && this.#last.length > 0
        ? (this.#last[Math.floor(this.#random() * this.#last.length)] ?? '')
        : this.#word(),
    );
    if (this.#random() < 0.2) {
      const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
      words.push(longest.slice(0, 2) + longest.slice(3, 4) + longest.slice(2, 3) + longest.slice(4));
    }
    return words.join(' ');
  }

  #word(): string {
    const at = this.#random() * (this.#shares.at(-1) ?? 0);
    let [low, high] = [0, this.#shares.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#shares[middle] ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return this.#words[low] ?? '';
  }
}

/** Numbers from 0 to 1, the same in every run (the linear congruential generator of Numerical Recipes). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
