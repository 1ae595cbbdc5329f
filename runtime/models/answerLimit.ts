import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';

/** Bytes of an answer where the settings say nothing else. */
export const DEFAULT_MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** An answer was larger than its limit, and the rest of it was not read. */
export class OversizedAnswer extends Error {
  /** What came of a whole answer: the beginning of the provider's JSON. Empty for a stream, whose pieces were passed on. */
  readonly begun: string;

  constructor(begun: string) {
    super('The answer is larger than its limit.');
    this.name = 'OversizedAnswer';
    this.begun = begun;
  }
}

/** The oversized answer behind an error: the providers' packages wrap it. Undefined when it is another error. */
export function oversizedAnswerIn(error: unknown): OversizedAnswer | undefined {
  for (let inner = error, depth = 0; depth < 5 && inner !== null && typeof inner === 'object'; depth += 1) {
    if (inner instanceof OversizedAnswer) return inner;
    inner = 'cause' in inner ? inner.cause : undefined;
  }
  return undefined;
}

/** The end of an answer that was cut at the limit of its size. */
export const OVERSIZED: LanguageModelV4FinishReason = { unified: 'length', raw: 'guildhall: size' };

/** Of an answer whose end did not come. It is estimated (usage.ts). */
export const UNKNOWN_USAGE: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Counts what a streamed answer has of text, thoughts and arguments of calls. */
export class AnswerMeter {
  #left: number;
  readonly #arguments = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  /** The part, or as much of its text as fits. Undefined when nothing of it fits: the answer is over its limit. */
  fit(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart | undefined {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const bytes = Buffer.byteLength(part.delta);
        const delta = bytes <= this.#left ? part.delta : firstBytes(part.delta, this.#left);
        this.#left -= bytes;
        return delta === '' && bytes > 0 ? undefined : { ...part, delta };
      }
      case 'tool-input-delta': {
        const bytes = Buffer.byteLength(part.delta);
        this.#arguments.set(part.id, (this.#arguments.get(part.id) ?? 0) + bytes);
        return this.#spend(bytes) ? part : undefined;
      }
      case 'tool-call':
        // The pieces of its arguments may have come before.
        return this.#spend(Buffer.byteLength(part.input) - (this.#arguments.get(part.toolCallId) ?? 0))
          ? part
          : undefined;
      default:
        return part;
    }
  }

  /** Whether more came than fits. */
  get isExceeded(): boolean {
    return this.#left < 0;
  }

  #spend(bytes: number): boolean {
    this.#left -= Math.max(0, bytes);
    return !this.isExceeded;
  }
}

/** The beginning of a text that has at most so many bytes as UTF-8, whole characters only. */
function firstBytes(text: string, bytes: number): string {
  return Buffer.from(text)
    .subarray(0, Math.max(0, bytes))
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

/** The texts of an answer whose JSON ends in the middle, in the format of any provider; what cannot be told is left out. */
export function textsOfBegun(begun: string): string[] {
  const answer = parseBegun(begun);
  const choice = item(at(answer, 'choices'), 0);
  const candidate = item(at(answer, 'candidates'), 0);
  const parts = [
    { text: at(at(choice, 'message'), 'content') },
    ...list(at(answer, 'content')),
    ...list(at(answer, 'output')).flatMap((each) => list(at(each, 'content'))),
    ...list(at(at(candidate, 'content'), 'parts')).filter((part) => at(part, 'thought') !== true),
  ];
  return parts.map((part) => at(part, 'text')).filter((text) => typeof text === 'string' && text !== '') as string[];
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const item = (value: unknown, index: number): unknown => list(value)[index];

/** No provider nests an answer that deeply, and parsing takes time. */
const MAX_OPEN = 1_000;

/** Parses JSON that ends in the middle: closes what is open, or else drops the value that is not complete. Undefined when that does not help. */
function parseBegun(begun: string): unknown {
  const { closers, isInString, lastComma } = openParts(begun);
  if (closers.length > MAX_OPEN) return undefined;
  // An escape may be cut, too.
  const end = isInString ? `${begun.replace(/\\(u[0-9a-f]{0,3})?$/i, '')}"` : begun;
  const whole = parsed(end + closers);
  if (whole !== undefined) return whole;
  const before = begun.slice(0, lastComma);
  return parsed(before + openParts(before).closers);
}

/** What is open at the end of a piece of JSON, and the place of the last comma between its values. */
function openParts(json: string): { closers: string; isInString: boolean; lastComma: number } {
  const open: string[] = [];
  let isInString = false;
  let lastComma = 0;
  for (let place = 0; place < json.length; place += 1) {
    const char = json[place];
    if (isInString) {
      if (char === '\\') place += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{') open.push('}');
    else if (char === '[') open.push(']');
    else if (char === '}' || char === ']') open.pop();
    else if (char === ',') lastComma = place;
  }
  return { closers: open.reverse().join(''), isInString, lastComma };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
