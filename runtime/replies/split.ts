import { type ReplyBlock, replyBlocks } from './blocks.ts';
import { sentenceEnds } from './sentences.ts';

/** More messages at once would annoy the reader. */
const MAX_MESSAGES = 6;
/** A piece with fewer characters is joined to another one. */
const MIN_CHARACTERS = 40;
/** A paragraph with more characters is cut. */
const MAX_PARAGRAPH = 1200;
/** Cuts are looked for in so many characters: a reply can have megabytes, and parsing one takes seconds. */
const MAX_SEARCHED = 12_000;

const ENDS_WITH_COLON = /[:：]\s*$/;
/** The first item of a list. A list that continues with a later number was introduced earlier. */
const FIRST_ITEM = /^\s*(?:[^\d\s]|1[.)])/;

/**
 * The messages that a reply is sent as when message splitting is on: cut at blank lines, but not within code, a list with the line
 * that introduces it, a table or a quotation, nor behind a heading. A paragraph over MAX_PARAGRAPH is cut at ends of sentences. A
 * piece under MIN_CHARACTERS goes with the next (the last with the one before), and from the sixth on, or behind MAX_SEARCHED, all go together. None is
 * empty and nothing but white space is lost, so a text of white space gives none.
 */
export function splitReply(text: string): string[] {
  const cuts = cutsOf(text.slice(0, MAX_SEARCHED));
  const pieces = [0, ...cuts].map((start, place) => ({ start, end: cuts[place] ?? text.length }));
  const messages: { start: number; end: number }[] = [];
  for (const piece of pieces) {
    const last = messages.at(-1);
    if (last && (messages.length === MAX_MESSAGES || isShort(text, last))) last.end = piece.end;
    else messages.push({ ...piece });
  }
  const [last, before] = [messages.at(-1), messages.at(-2)];
  if (last && before && isShort(text, last)) {
    before.end = last.end;
    messages.pop();
  }
  return messages.map(({ start, end }) => text.slice(start, end).trim()).filter((message) => message !== '');
}

function isShort(text: string, { start, end }: { start: number; end: number }): boolean {
  return (
    [
      ...text
        .slice(start, end)
        .trim()
        .slice(0, 2 * MIN_CHARACTERS),
    ].length < MIN_CHARACTERS
  );
}

/** Offsets at which the text may be cut, in order. */
function cutsOf(text: string): number[] {
  const blocks = replyBlocks(text);
  return blocks.flatMap((block, place) => {
    const before = blocks[place - 1];
    const cut = before && block.apart && !belongs(text, before, block) ? [block.start] : [];
    return block.kind === 'paragraph' ? [...cut, ...cutsWithin(text, block)] : cut;
  });
}

/** Whether a block stays with the one before it, although there is a blank line between them. */
function belongs(text: string, before: ReplyBlock, block: ReplyBlock): boolean {
  if (before.kind === 'heading') return true;
  if (block.kind === 'list' || block.kind === 'quote') {
    if (before.kind === block.kind) return true;
  }
  if (before.kind !== 'paragraph') return false;
  if (block.kind === 'list' && FIRST_ITEM.test(text.slice(block.start, block.end))) return true;
  return block.kind !== 'paragraph' && ENDS_WITH_COLON.test(text.slice(before.start, before.end));
}

/** Ends of sentences that cut a long paragraph into pieces of about the same length. */
function cutsWithin(text: string, { start, end }: ReplyBlock): number[] {
  const length = end - start;
  if (length <= MAX_PARAGRAPH) return [];
  const parts = Math.ceil(length / MAX_PARAGRAPH);
  const ends = sentenceEnds(text.slice(start, end));
  const cuts = new Set<number>();
  let place = 0;
  for (let part = 1; part < parts; part += 1) {
    const wanted = (part * length) / parts;
    const distance = (at: number) => Math.abs((ends[at] ?? Number.POSITIVE_INFINITY) - wanted);
    while (distance(place + 1) < distance(place)) place += 1;
    const nearest = ends[place];
    if (nearest !== undefined) cuts.add(start + nearest);
  }
  return [...cuts];
}
