import type { LRUCache } from 'lru-cache';
import { lruCache } from '../../core/lruCache.ts';
import { HARMONY_OPENINGS, HarmonyReader } from './harmony.ts';
import type { ModelSettings } from './settings.ts';

/*
 * Thoughts that a compatible server leaves in the text of an answer. A server with a parser for them sends them apart; one without sends
 * `<think>…</think>` at the start, or a `</think>` alone where the model's template put the opening tag into the prompt (DeepSeek R1, QwQ,
 * Qwen's Thinking models, MiniMax M2). Tags anywhere else are text, and so are tags within code.
 */

const NAMES = ['think', 'thinking', 'thought', 'reasoning', 'seed:think'];
/** Some models close their thoughts by another of the names. Not what is quoted: that is what they think about. */
const CLOSING_BY_NAME = new RegExp(`(?<![\`'"“])</(?:${NAMES.join('|')})>`, 'gi');
/**
 * What stands before and after thoughts. Google's compatible endpoint writes `thought`, ByteDance's Seed-OSS `seed:think`, and models that were
 * taught by examples `reasoning`; Mistral's Magistral has brackets, Kimi triangles, and Gemma 4 a channel. The format of gpt-oss has more than
 * thoughts (harmony.ts).
 */
const TAGS: readonly (readonly [opening: string, closing: string])[] = [
  ...NAMES.map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[think]', '[/think]'],
  ['◁think▷', '◁/think▷'],
  ['<|channel>thought', '<channel|>'],
];
/** White space before an opening tag. Behind more of it comes none; some models write white space without end. */
const MAX_BLANK = 200;
/** How often the text of a stream is read for the end of its thoughts. After that it is read once more, when it is whole. */
const MAX_READINGS = 64;
/** The longest tag without its last character. */
const MAX_HELD = Math.max(...TAGS.flat().map(({ length }) => length)) - 1;
/** A closing tag, and white space behind it. */
const MAX_TAIL = 32;
/** At the end of a line: a sentence about the tag goes on behind it. */
const LONE = /<\/think(?:ing)?>[ \t]*(?:\r?\n|$)/gi;
const LONE_IN_STREAM = /<\/think(?:ing)?>[ \t]*\r?\n/gi;

/** Ids of models whose templates open the thoughts, as far as names tell. */
const OPENED_BY_TEMPLATE =
  /(?:^|[^a-z])(?:r1|r1t\d?|qwq|think|thinking|thinker|reasoner|reasoning|minimax-m\d|qwen-?3\.\d|glm-z1|exaone-deep)(?:[^a-z]|$)/i;

type Habit = 'opened by template' | 'plain';

const habits = new WeakMap<ModelSettings, LRUCache<string, Habit>>();
const MAX_HABITS = 10_000;

/**
 * How a model of a compatible server thinks, as far as its name and its answers in this process tell. What people write to a model can make it answer
 * in the other way, so the answers of one workspace change nothing for another.
 */
export class ThinkingHabits {
  readonly #known: LRUCache<string, Habit>;
  readonly #modelId: string;
  readonly #key: string;

  constructor(settings: ModelSettings, workspaceId: string, modelId: string) {
    this.#known = habits.get(settings) ?? lruCache(MAX_HABITS);
    habits.set(settings, this.#known);
    this.#modelId = modelId;
    this.#key = `${workspaceId} ${modelId}`;
  }

  /** Whether the text of a stream may begin with thoughts that only their end shows. */
  get opensByTemplate(): boolean {
    const habit = this.#known.get(this.#key);
    return habit === undefined ? OPENED_BY_TEMPLATE.test(this.#modelId) : habit === 'opened by template';
  }

  learn(habit: Habit): void {
    this.#known.set(this.#key, habit);
  }
}

/** Whether a text is the beginning of an opening tag, or white space before one. */
function mayOpen(text: string): boolean {
  const begun = text.trimStart().toLowerCase();
  return [...TAGS.map(([opening]) => opening), ...HARMONY_OPENINGS].some((opening) => opening.startsWith(begun));
}

/** The tags that a text begins with, and its place behind the opening one. */
function openedBy(text: string): { tags: (typeof TAGS)[number]; end: number } | undefined {
  const own = text.trimStart();
  const begun = own.slice(0, MAX_HELD + 1).toLowerCase();
  const tags = TAGS.find(([opening]) => begun.startsWith(opening));
  return tags && { tags, end: text.length - own.length + tags[0].length };
}

/** The place behind a lone closing tag that ends thoughts; -1 where there is none. Reads the text once, however many tags it has. */
function endOfThoughts(text: string, pattern: RegExp): number {
  // Nearly all answers.
  if (!text.includes('</')) return -1;
  let fences = 0;
  let read = 0;
  for (const match of text.matchAll(pattern)) {
    const before = text.slice(read, match.index);
    read = match.index;
    if (/<think(?:ing)?>/i.test(before)) return -1;
    fences += before.match(/^\s{0,3}(?:```|~~~)/gm)?.length ?? 0;
    const isQuoted = /[`'"“]$/.test(text.slice(Math.max(0, match.index - 1), match.index));
    if (fences % 2 === 0 && !isQuoted) return match.index + match[0].length;
  }
  return -1;
}

/** Takes the thoughts out of the text of one answer, piece by piece. Pieces may end anywhere, also within a tag. */
export class ThoughtFilter {
  readonly #habits: ThinkingHabits;
  #mode: 'start' | 'inside' | 'waiting' | 'open' | 'harmony' = 'start';
  #held = '';
  /** What came behind a closing tag of another name than the opening one, but for `#held`: the answer, if no tag of its name comes. */
  #behindOther: string | undefined;
  /** So much of `#held` was looked through for such a tag: of a quoted one, the quotation mark may be gone by now. */
  #lookedThrough = 0;
  readonly #harmony = new HarmonyReader();
  #tags: (typeof TAGS)[number] = ['', ''];
  /** Within the thoughts others begin. Then the tag that ends them may be a later one. */
  #isNested = false;
  /** The newest characters of `#held`, in which a closing tag may have come. Reading all of it would copy it each time. */
  #tail = '';
  #readings = 0;
  /** Everything is at hand at the end: the text is held until then. */
  readonly #isWhole: boolean;
  #mayWait: boolean;
  /** Thoughts were taken out of the text. */
  #wasInText = false;
  /** Whether the answer had thoughts, in its text or apart. */
  hasThoughts = false;

  constructor(habits: ThinkingHabits, { isWhole }: { isWhole: boolean }) {
    this.#habits = habits;
    this.#isWhole = isWhole;
    this.#mayWait = isWhole || habits.opensByTemplate;
  }

  /** The server sent thoughts apart from the text, so it leaves none in it. */
  noteReasoning(): void {
    this.hasThoughts = true;
    if (this.#mode === 'start') this.#mayWait = this.#isWhole;
  }

  /** What of a piece can be shown. */
  take(piece: string): string {
    this.#held += piece;
    this.#tail = this.#tail.slice(-MAX_TAIL) + piece;
    let shown = '';
    for (let before = ''; before !== this.#state; ) {
      before = this.#state;
      shown += this.#step();
    }
    return shown;
  }

  /** What is left to show when the answer has ended. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    if (this.#mode === 'inside') return this.#behindOther === undefined ? '' : (this.#behindOther + rest).trimStart();
    if (this.#mode === 'harmony') return this.#harmony.end();
    if (this.#mode !== 'waiting') return rest;
    const end = endOfThoughts(rest, LONE);
    if (end < 0) {
      // Nobody need wait for this model's thoughts any more.
      if (!this.#isWhole && !this.#wasInText) this.#habits.learn('plain');
      return rest;
    }
    this.#noteLone();
    return rest.slice(end).trimStart();
  }

  /** A whole text that was shown as it came, without thoughts whose opening tag is in the prompt: only its end shows them. */
  cleaned(text: string): string {
    const end = this.#mode === 'open' ? endOfThoughts(text, LONE) : -1;
    if (end < 0) return text;
    this.#noteLone();
    return text.slice(end).trimStart();
  }

  get #state(): string {
    return `${this.#mode} ${this.#held.length}`;
  }

  #step(): string {
    const held = this.#held;
    if (this.#mode === 'inside') {
      this.#stepInside();
      return '';
    }
    if (this.#mode === 'harmony') {
      this.#held = '';
      const shown = this.#harmony.take(held);
      this.hasThoughts ||= this.#harmony.hasThoughts;
      return shown;
    }
    if (this.#mode === 'start') {
      const own = held.trimStart();
      if (HARMONY_OPENINGS.some((opening) => own.startsWith(opening))) {
        this.#mode = 'harmony';
        this.#held = own;
        return '';
      }
      const opened = openedBy(held);
      if (opened) {
        this.#mode = 'inside';
        this.#lookedThrough = 0;
        this.#tags = opened.tags;
        this.#held = held.slice(opened.end);
        this.hasThoughts = true;
        this.#wasInText = true;
        this.#mayWait = false;
        return '';
      }
      // The lines between the thoughts and the answer belong to neither.
      if (this.#wasInText) this.#held = held.trimStart();
      if (this.#held.length > MAX_BLANK || !mayOpen(held)) this.#mode = this.#mayWait ? 'waiting' : 'open';
      return '';
    }
    if (this.#mode === 'waiting') {
      // All of it is read again only where a tag may have come: a long text has thousands of pieces.
      const mayEnd = !this.#isWhole && this.#readings < MAX_READINGS && this.#tail.includes('</think');
      if (!mayEnd) return '';
      this.#readings += 1;
      const end = endOfThoughts(held, LONE_IN_STREAM);
      if (end < 0) return '';
      this.#noteLone();
      this.#held = held.slice(end).trimStart();
      this.#mode = 'start';
      return '';
    }
    this.#held = '';
    return held;
  }

  /** Within thoughts, which end with a tag of the name that opened them. */
  #stepInside(): void {
    const held = this.#held;
    const [opening, closing] = this.#tags;
    const lower = held.toLowerCase();
    const at = lower.indexOf(closing);
    this.#isNested ||= (at < 0 ? lower : lower.slice(0, at)).includes(opening);
    if (at >= 0) {
      this.#held = held.slice(at + closing.length).trimStart();
      this.#behindOther = undefined;
      this.#mode = 'start';
      this.#mayWait = this.#isNested;
      return;
    }
    const isSought = this.#behindOther === undefined && NAMES.includes(opening.slice(1, -1));
    const tags = isSought ? [...held.matchAll(CLOSING_BY_NAME)] : [];
    const other = tags.find((tag) => tag.index + tag[0].length > this.#lookedThrough);
    const from = other ? other.index + other[0].length : 0;
    // The rest of what is inside is not kept.
    const until = Math.max(from, held.length - MAX_HELD);
    if (other || this.#behindOther !== undefined)
      this.#behindOther = (this.#behindOther ?? '') + held.slice(from, until);
    this.#held = held.slice(until);
    this.#lookedThrough = this.#held.length;
  }

  /** Thoughts ended with a tag that no other one had opened in the text: the template has it, unless it belongs to thoughts within thoughts. */
  #noteLone(): void {
    if (!this.#wasInText) this.#habits.learn('opened by template');
    this.hasThoughts = true;
    this.#wasInText = true;
    this.#mayWait = false;
  }
}
