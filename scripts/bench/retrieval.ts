import type { Kysely } from 'kysely';
import type { DB } from '../../generated/db.ts';
import { isForeign } from '../../runtime/knowledge/languages.ts';
import type { KnowledgeContext } from '../../runtime/knowledge/passages.ts';
import { fuseFindings, searchKnowledge } from '../../runtime/knowledge/search.ts';
import { addSource, inKnowledgeWorkspace } from './knowledgeWorkspace.ts';
import type { Figure } from './report.ts';
import { isHeldOut, LANGUAGES, type Question, readBooks, readQuestions } from './retrieval/corpus.ts';
import { QUALITIES, standIn } from './retrieval/meaning.ts';
import { intervalOfDifference, qualityOf } from './retrieval/quality.ts';
import { VECTOR_MODELS, Vectors } from './retrieval/vectors.ts';
import { DICTIONARIES, rankByStems } from './retrieval/yardstick.ts';
import type { World } from './world.ts';

/** A passage of a language's books. */
interface Shelved {
  key: string;
  /** As a model for embeddings gets it. */
  text: string;
  section: string | undefined;
}

/** A passage that a search found. */
interface Found {
  key: string;
  score: number;
}

/** A question, what answers it, and what was found. */
interface Case {
  text: string;
  isHeldOut: boolean;
  answers: ReadonlySet<string>;
  byWords: readonly Found[];
  yardstick: readonly string[];
}

interface Shelf {
  language: string;
  passages: readonly Shelved[];
  cases: readonly Case[];
}

/** As many as the service fuses. */
const FUSED = 50;

/**
 * Measures what a search finds, in Debian's FAQ and reference in several languages, with questions whose answers are known. All books are in one workspace; a question
 * is put to those in its language. The yardstick is a plain BM25 over the same passages, with the stems of the language. Weights were chosen with one part of the
 * questions; the others are held out, and only measured.
 */
export async function measureRetrieval(world: Pick<World, 'databaseUrl'>): Promise<Figure[]> {
  return await inKnowledgeWorkspace(world, 'retrieval', async (context, system) => {
    const questions = await readQuestions();
    const shelves: Shelf[] = [];
    for (const language of LANGUAGES) shelves.push(await fill(context, system, language, questions));
    return [...shelves.flatMap(wordsOf), ...(await modelsOf(shelves)), ...standInsOf(shelves)];
  });
}

/** Stores the books of a language, and asks its questions. */
async function fill(
  context: KnowledgeContext,
  system: Kysely<DB>,
  language: string,
  questions: readonly Question[],
): Promise<Shelf> {
  const passages: Shelved[] = [];
  const sourceIds: string[] = [];
  for (const book of await readBooks(language)) {
    const id = await addSource(context, book.name, book.passages);
    sourceIds.push(id);
    for (const { seq, heading, content } of book.passages)
      passages.push({
        key: `${id}/${seq}`,
        text: heading === null ? content : `${heading}\n${content}`,
        section: book.sections[seq],
      });
  }
  const asked = questions.flatMap((question) => {
    const text = question[language];
    return typeof text === 'string' ? [{ question, text }] : [];
  });
  const yardsticks = await rankByStems(
    system,
    language,
    passages.map(({ text }) => text),
    asked.map(({ text }) => text),
  );
  const cases: Case[] = [];
  for (const [index, { question, text }] of asked.entries()) {
    const { hits } = await searchKnowledge(context, { query: text, sourceIds, limit: FUSED });
    const answers = passages.filter(({ section }) => section !== undefined && question.sections.includes(section));
    cases.push({
      text,
      isHeldOut: isHeldOut(question),
      answers: new Set(answers.map(({ key }) => key)),
      byWords: hits.map(({ sourceId, seq, byWords }) => ({ key: `${sourceId}/${seq}`, score: byWords?.score ?? 0 })),
      yardstick: (yardsticks[index] ?? []).slice(0, FUSED).map((position) => passages[position]?.key ?? ''),
    });
  }
  return { language, passages, cases };
}

const PARTS = [
  ['chosen with', (one: Case) => !one.isHeldOut],
  ['held out', (one: Case) => one.isHeldOut],
] as const;

/** Whether each of the found passages answers, best first. */
function rightOf({ answers }: Case, found: readonly string[]): boolean[] {
  return found.map((key) => answers.has(key));
}

const keysOf = (found: readonly Found[]) => found.map(({ key }) => key);

/** The search by words, and its yardstick. */
function wordsOf({ language, passages, cases }: Shelf): Figure[] {
  return PARTS.flatMap(([part, isOf]) => {
    const some = cases.filter(isOf);
    const [found, plain] = [
      some.map((one) => rightOf(one, keysOf(one.byWords))),
      some.map((one) => rightOf(one, one.yardstick)),
    ];
    const [ours, yardstick] = [qualityOf(found), qualityOf(plain)];
    const [low, high] = intervalOfDifference(found, plain);
    return (['mrr', 'recall'] as const).map((name) => ({
      measure: 'retrieval',
      name: `by words, ${language}, ${part}: ${NAMES[name]}`,
      value: ours[name],
      unit: '',
      target: { limit: yardstick[name], is: 'at least' as const },
      note: `${ours[name].toFixed(3)}, stemmed BM25 ${yardstick[name].toFixed(3)}${name === 'mrr' ? `, difference ${low.toFixed(3)} to ${high.toFixed(3)} (95 %)` : ''}; ${some.length} questions, ${passages.length} passages`,
    }));
  });
}

const NAMES = { mrr: 'MRR@10', recall: 'recall@5' } as const;

/** The words fused with the vectors of real models: both together must be at least as good as the better half. */
async function modelsOf(shelves: readonly Shelf[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const model of VECTOR_MODELS) {
    const vectors = await Vectors.read(model);
    for (const { language, passages, cases } of shelves) {
      if (!model.languages.includes(language)) continue;
      const nearest = new Map(
        cases.map((one) => [one, nearestOf(passages, (passage) => vectors.cosine(one.text, passage.text))]),
      );
      for (const [part, isOf] of PARTS)
        figures.push(
          ...fusionOf(
            `${model.name}, ${language}, ${part}`,
            cases.filter(isOf),
            (one) => nearest.get(one),
            ({ text }) => model.isEnglishOnly === true && isForeign(text, DICTIONARIES[language]),
          ),
        );
    }
  }
  return figures;
}

/**
 * The words fused with a stand-in for meaning of several qualities, in all languages with spaces. The stand-in knows the answers and hides them in noise; it measures the
 * fusion and no model.
 */
function standInsOf(shelves: readonly Shelf[]): Figure[] {
  const all = shelves
    .filter(({ language }) => language !== 'ja')
    .flatMap(({ passages, cases }) => cases.map((one) => ({ passages, one })));
  return QUALITIES.flatMap((quality) => {
    const nearest = new Map(
      all.map(({ passages, one }, index) => {
        const near = standIn(quality, index * 7919 + 1);
        return [one, nearestOf(passages, ({ key }) => near(one.answers.has(key)))];
      }),
    );
    const cases = all.map(({ one }) => one);
    return fusionOf(`stand-in of quality ${quality}`, cases, (one) => nearest.get(one));
  });
}

function nearestOf(passages: readonly Shelved[], nearness: (passage: Shelved) => number): Found[] {
  return passages
    .map((passage) => ({ key: passage.key, score: nearness(passage) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, FUSED);
}

function fusionOf(
  title: string,
  cases: readonly Case[],
  byMeaning: (one: Case) => readonly Found[] | undefined,
  isStrange: (one: Case) => boolean = () => false,
): Figure[] {
  const of = (found: (one: Case) => readonly Found[]) =>
    qualityOf(cases.map((one) => rightOf(one, keysOf(found(one)))));
  const words = of(({ byWords }) => byWords);
  const meaning = of((one) => byMeaning(one) ?? []);
  const fused = of((one) => fuseFindings(one.byWords, byMeaning(one) ?? [], ({ key }) => key, isStrange(one)));
  return (['mrr', 'recall'] as const).map((name) => ({
    measure: 'retrieval',
    name: `words and ${title}: ${NAMES[name]}`,
    value: fused[name],
    unit: '',
    target: { limit: Math.max(words[name], meaning[name]), is: 'at least' as const },
    note: `${fused[name].toFixed(3)}, words ${words[name].toFixed(3)}, meaning ${meaning[name].toFixed(3)}; ${cases.length} questions`,
  }));
}
