import { randomUUID } from 'node:crypto';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { toStorableJson } from '../../core/json.ts';
import { boundPassed } from '../../core/jsonBounds.ts';
import { toStorable } from '../../core/text.ts';
import { MAX_DEPTH } from '../tools/request/response.ts';
import {
  AnswerMeter,
  OVERSIZED,
  OversizedAnswer,
  oversizedAnswerIn,
  textsOfBegun,
  UNKNOWN_USAGE,
} from './answerLimit.ts';
import { UnfinishedAnswer } from './errors.ts';
import { type AssistantPart, hasContent } from './prompt.ts';
import type { ThoughtFilter } from './thoughts.ts';

/** A call that a model asks for. */
export type ModelToolCall = {
  /** Unique within the answer. */
  id: string;
  /** As the model wrote it if there is such a tool; otherwise changed to what providers accept as a name. */
  name: string;
  input: Record<string, unknown>;
  /** Why the arguments are invalid, in a sentence for the model; `input` is empty then. */
  problem: string | null;
};

type RawPart = LanguageModelV4Text | LanguageModelV4Reasoning | LanguageModelV4ToolCall;

/** The provider's response, received whole or assembled from a stream. */
export type RawAnswer = {
  parts: RawPart[];
  usage: LanguageModelV4Usage;
  finish: LanguageModelV4FinishReason;
  /** The model has thought before it answered. */
  hasThoughts?: boolean;
};

/** Makes the filter for the text of one answer. Absent: the provider sends thoughts apart. */
export type FilterFactory = (isWhole: boolean) => ThoughtFilter;

const isRead = (part: { type: string }): part is RawPart =>
  part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-call';

/** An answer that was cut at the limit of its size. Its calls are dropped: there may be more of them, and they may belong together. */
function oversized(parts: readonly RawPart[]): RawAnswer {
  return { parts: parts.filter(({ type }) => type !== 'tool-call'), usage: UNKNOWN_USAGE, finish: OVERSIZED };
}

/** Requests the answer in one piece. Of one that is over its limit (transport.ts) the text that came is returned. */
export async function generate(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  filterOf?: FilterFactory,
): Promise<RawAnswer> {
  try {
    const { content, usage, finishReason } = await model.doGenerate(options);
    const parts = content.filter(isRead);
    const filter = filterOf?.(true);
    if (parts.some(({ type }) => type === 'reasoning')) filter?.noteReasoning();
    if (filter) filterTexts(parts, filter);
    return { parts, usage, finish: finishReason, hasThoughts: hasThoughts(parts, filter) };
  } catch (error) {
    const cut = oversizedAnswerIn(error);
    if (!cut) throw error;
    const parts: RawPart[] = textsOfBegun(cut.begun).map((text) => ({ type: 'text', text }));
    const filter = filterOf?.(true);
    if (filter) filterTexts(parts, filter);
    return oversized(parts);
  }
}

/** Takes the thoughts out of the texts of a whole answer. */
function filterTexts(parts: readonly RawPart[], filter: ThoughtFilter): void {
  const texts = parts.filter((part) => part.type === 'text');
  for (const part of texts) part.text = filter.take(part.text);
  const last = texts.at(-1);
  if (last) last.text += filter.end();
}

const hasThoughts = (parts: readonly RawPart[], filter: ThoughtFilter | undefined): boolean =>
  filter?.hasThoughts === true || parts.some(({ type }) => type === 'reasoning');

/** Assembles the texts and thoughts of a stream. They arrive as blocks with ids, and blocks may overlap. */
class Blocks {
  readonly parts: RawPart[] = [];
  readonly #open = new Map<string, LanguageModelV4Text | LanguageModelV4Reasoning>();

  take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(part.type === 'text-start' ? 'text' : 'reasoning', part.id);
        break;
      case 'tool-call':
        this.parts.push(part);
        return;
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        break;
      default:
        return;
    }
    const kind = part.type.startsWith('text') ? 'text' : 'reasoning';
    const block = this.#open.get(`${kind} ${part.id}`) ?? this.#begin(kind, part.id);
    if ('delta' in part) block.text += part.delta;
    // The signature of a thought arrives with its last piece, so the latest value is used.
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
  }

  #begin(type: 'text' | 'reasoning', id: string): LanguageModelV4Text | LanguageModelV4Reasoning {
    const block = { type, text: '' };
    this.#open.set(`${type} ${id}`, block);
    this.parts.push(block);
    return block;
  }
}

/** Makes each piece of a text storable. Holds back half of a surrogate pair until the other half arrives. */
class Pieces {
  #half = '';

  take(piece: string): string {
    const text = this.#half + piece.replaceAll('\0', '');
    this.#half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    return toStorable(text.slice(0, text.length - this.#half.length));
  }

  end(): string {
    return toStorable(this.#half);
  }
}

/**
 * Requests the answer as a stream and passes each piece of its text to `onText`. Waits for a returned promise before the next. Of an
 * answer with more than `maxBytes` of text, thoughts and arguments, what came until then is returned.
 */
export async function stream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  maxBytes: number,
  onText: (delta: string) => void | Promise<void>,
  filterOf?: FilterFactory,
): Promise<RawAnswer> {
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  const blocks = new Blocks();
  const pieces = new Pieces();
  const meter = new AnswerMeter(maxBytes);
  const filter = filterOf?.(false);
  let lastText = '';
  const end: Partial<Omit<RawAnswer, 'parts'>> = {};
  try {
    reader = (await model.doStream(options)).stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const metered = meter.fit(value);
      if (metered === undefined) throw new OversizedAnswer('');
      if (metered.type === 'reasoning-delta') filter?.noteReasoning();
      const part =
        filter && metered.type === 'text-delta' ? { ...metered, delta: filter.take(metered.delta) } : metered;
      blocks.take(part);
      if (part.type === 'text-delta') {
        lastText = part.id;
        const piece = pieces.take(part.delta);
        const handed = piece === '' ? undefined : onText(piece);
        if (handed !== undefined) await handed;
      } else if (part.type === 'error') throw part.error;
      else if (part.type === 'finish') Object.assign(end, { usage: part.usage, finish: part.finishReason });
      if (meter.isExceeded) throw new OversizedAnswer('');
    }
  } catch (error) {
    // Closes the connection, so that the provider stops generating.
    reader?.cancel(error).catch(() => {});
    if (oversizedAnswerIn(error)) return oversized(blocks.parts);
    throw error;
  }
  if (end.usage === undefined || end.finish === undefined) throw new UnfinishedAnswer();
  const held = filter?.end() ?? '';
  if (held !== '') blocks.take({ type: 'text-delta', id: lastText, delta: held });
  const rest = pieces.take(held) + pieces.end();
  if (rest !== '') await onText(rest);
  const [text] = blocks.parts.filter((part) => part.type === 'text');
  if (filter && text) text.text = filter.cleaned(text.text);
  return {
    parts: blocks.parts,
    usage: end.usage,
    finish: end.finish,
    hasThoughts: hasThoughts(blocks.parts, filter),
  };
}

/** Returns every text that the model wrote, to estimate its tokens where a server reports no usage. */
export function textsOf({ parts }: RawAnswer): string[] {
  return parts.map((part) => (part.type === 'tool-call' ? part.input : part.text));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** Of the arguments of one call. */
const ARGUMENT_BOUNDS = { values: 20_000, depth: MAX_DEPTH };

/** Parses the arguments of a call. Models write nothing, `{}` or `null` for a call without arguments. */
function argumentsOf(text: string, wasCut: boolean): Pick<ModelToolCall, 'input' | 'problem'> {
  if (text.trim() === '') return { input: {}, problem: null };
  const wrong = (problem: string) => ({ input: {}, problem });
  // Everything that walks the value is recursive.
  const passed = boundPassed(Buffer.from(text), ARGUMENT_BOUNDS);
  if (passed === 'depth') return wrong('The arguments nest too deeply. Make the call again with flatter ones.');
  if (passed === 'values') return wrong('The arguments have too many values. Make the call again with fewer.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wasCut
      ? wrong('The arguments were cut off at the length limit of an answer. Make the call again with shorter ones.')
      : wrong('The arguments are not valid JSON. Make the call again with a JSON object.');
  }
  if (isObject(value)) return { input: toStorableJson(value, MAX_DEPTH) as Record<string, unknown>, problem: null };
  if (value === null) return { input: {}, problem: null };
  return wrong(`The arguments must be a JSON object, not ${nameOf(value)}. Make the call again with an object.`);
}

/** Makes the name of an unknown tool valid. Providers refuse a conversation that contains an invalid name. */
const fittingName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';

/** The text, the parts and the tool calls of an answer. */
export type ReadAnswer = { text: string; content: AssistantPart[]; toolCalls: ModelToolCall[] };

/**
 * Reads an answer and removes what PostgreSQL cannot store. `toolNames` are the tools that the model may call; when there are none,
 * its calls are dropped. `content` has the parts that must go back to the model, without empty ones.
 */
export function readAnswer({ parts, finish }: RawAnswer, toolNames: ReadonlySet<string>): ReadAnswer {
  const said: ReadAnswer = { text: '', content: [], toolCalls: [] };
  const ids = new Set<string>();
  for (const part of parts) {
    const providerOptions = part.providerMetadata && toStorableJson(part.providerMetadata, MAX_DEPTH);
    const own = providerOptions === undefined ? {} : { providerOptions: providerOptions as SharedV4ProviderOptions };
    if (part.type !== 'tool-call') {
      if (part.type === 'text') said.text += part.text;
      said.content.push({ type: part.type, text: toStorable(part.text), ...own });
    } else if (toolNames.size > 0) {
      const given = toStorable(part.toolCallId);
      // Some servers send no ids, or the same id for all calls.
      const id = given === '' || ids.has(given) ? `call_${randomUUID()}` : given;
      ids.add(id);
      const name = toolNames.has(part.toolName) ? part.toolName : fittingName(part.toolName);
      const { input, problem } = argumentsOf(part.input, finish.unified === 'length');
      said.toolCalls.push({ id, name, input, problem });
      said.content.push({ type: 'tool-call', toolCallId: id, toolName: name, input, ...own });
    }
  }
  said.text = toStorable(said.text);
  said.content = said.content.filter(hasContent);
  return said;
}
