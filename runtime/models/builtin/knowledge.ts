import { ownTurn } from '../../../core/ownTurn.ts';
import { shorten, unescapeXml } from '../../../core/text.ts';
import { likeness, type Meaning, meaningOf } from './words.ts';

/** A passage of knowledge in a prompt. */
export type PromptPassage = { source: string; text: string };

/** Sentences of an answer, with the source that they are from. */
export type SourcedText = { source: string; text: string };

const OPENING = /^<passage source="([^"]*)">$/;

/** Returns the passages in the section `# Knowledge` of what stands beside a message. The section ends at the next heading of the first level. */
export function passagesIn(beside: string): PromptPassage[] {
  const passages: PromptPassage[] = [];
  let inSection = false;
  let open: { source: string; lines: string[] } | undefined;
  for (const line of beside.split('\n')) {
    const trimmed = line.trimEnd();
    if (open !== undefined) {
      if (trimmed === '</passage>') {
        passages.push({ source: open.source, text: open.lines.join('\n') });
        open = undefined;
      } else open.lines.push(line);
    } else if (trimmed.startsWith('# ')) inSection = trimmed === '# Knowledge';
    else if (inSection) {
      const source = OPENING.exec(trimmed)?.[1];
      if (source !== undefined) open = { source: unescapeXml(source), lines: [] };
    }
  }
  return passages;
}

/** The first line of a passage, which gives its position in the source. */
const PLACE = /^\[[^\]\n]*\]\n/;
/** Lines may be wrapped anywhere. A line that matches starts a new block, like one after a blank line. */
const ITEM = /^\s{0,20}(?:[-*•#|>]|\\#|\d{1,3}[.)]\s)/;
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
const MAX_SENTENCE_CHARS = 601;
const MAX_SENTENCES = 3;
/** Limits, because every word of the question is compared with every word of each passage. */
const MAX_QUESTION_CHARS = 2_000;
const MAX_PASSAGE_CHARS = 8_000;
const MAX_PASSAGES = 20;
/** Comparisons between two turns of the event loop: some milliseconds. */
const STRETCH = 100_000;
/** A sentence must have this share of the question's words, by weight. */
const MIN_LIKENESS = 0.35;
/** A sentence with this share of the best score is part of the answer too. */
const MIN_SHARE_OF_BEST = 0.8;

function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === '';
    if (isOpen && !isBlank && !ITEM.test(line)) blocks[blocks.length - 1] += ` ${line.trim()}`;
    else if (!isBlank) blocks.push(line.trim());
    isOpen = !isBlank;
  }
  return blocks;
}

function sentencesOf(text: string): string[] {
  return blocksOf(text.replace(PLACE, ''))
    .flatMap((block) => Array.from(SENTENCES.segment(block), ({ segment }) => segment.trim()))
    .filter((sentence) => sentence !== '')
    .map((sentence) => shorten(sentence, MAX_SENTENCE_CHARS));
}

/** A question or a heading needs the sentence after it. */
const needsNext = (sentence: string): boolean => /[?？]$|[\p{L}\p{N}:]$/u.test(sentence) || sentence.startsWith('#');

type Candidate = { passage: number; place: number; score: number; text: string };

async function candidates(question: Meaning, passages: readonly PromptPassage[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let stretch = 0;
  for (const [passage, each] of passages.slice(0, MAX_PASSAGES).entries()) {
    const sentences = sentencesOf(each.text.slice(0, MAX_PASSAGE_CHARS));
    for (const [place, sentence] of sentences.entries()) {
      const next = needsNext(sentence) ? sentences[place + 1] : undefined;
      const text = next === undefined ? sentence : `${sentence} ${next}`;
      const meaning = meaningOf(sentence);
      found.push({ passage, place, score: likeness(question, meaning), text });
      stretch += question.size * meaning.size + sentence.length;
      if (stretch < STRETCH) continue;
      stretch = 0;
      await ownTurn();
    }
  }
  return found;
}

/** Returns the sentences that share most words with the question, with their sources; none when no sentence shares enough. */
export async function findAnswer(question: string, passages: readonly PromptPassage[]): Promise<SourcedText[]> {
  const all = await candidates(meaningOf(question.slice(0, MAX_QUESTION_CHARS)), passages);
  const best = Math.max(0, ...all.map(({ score }) => score));
  const chosen = all
    .filter(({ score }) => score >= Math.max(MIN_LIKENESS, MIN_SHARE_OF_BEST * best))
    .sort((a, b) => b.score - a.score || a.passage - b.passage || a.place - b.place)
    .slice(0, MAX_SENTENCES);
  const found: SourcedText[] = [];
  for (const { passage, text } of chosen) {
    const source = passages[passage]?.source ?? '';
    const same = found.find((one) => one.source === source);
    if (same === undefined) found.push({ source, text });
    else if (!same.text.includes(text)) same.text += ` ${text}`;
  }
  return found;
}
