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
import { isDeeperThan, toStorableJson } from '../../core/json.ts';
import { toStorable } from '../../core/text.ts';
import { MAX_DEPTH } from '../tools/request/response.ts';
import { UnfinishedAnswer } from './errors.ts';
import { type AssistantPart, hasContent } from './prompt.ts';

/** A call that a model asks for. */
export type ModelToolCall = {
  /** Unique within the answer. */
  id: string;
  /** As the model wrote it, if there is such a tool; else made to fit what providers take as a name. */
  name: string;
  input: Record<string, unknown>;
  /** Why the arguments cannot be used, in a sentence for the model; `input` is empty then. */
  problem: string | null;
};

type RawPart = LanguageModelV4Text | LanguageModelV4Reasoning | LanguageModelV4ToolCall;

/** An answer as the provider gave it, whole or put together from its pieces. */
export type RawAnswer = {
  parts: RawPart[];
  usage: LanguageModelV4Usage;
  finish: LanguageModelV4FinishReason;
};

const isRead = (part: { type: string }): part is RawPart =>
  part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-call';

/** Asks for the answer in one piece. */
export async function generate(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<RawAnswer> {
  const { content, usage, finishReason } = await model.doGenerate(options);
  return { parts: content.filter(isRead), usage, finish: finishReason };
}

/** Puts the texts and thoughts of a stream together. They come as blocks with ids, and blocks may overlap. */
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
    // The signature of a thought comes with its last piece, so what comes later counts.
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
  }

  #begin(type: 'text' | 'reasoning', id: string): LanguageModelV4Text | LanguageModelV4Reasoning {
    const block = { type, text: '' };
    this.#open.set(`${type} ${id}`, block);
    this.parts.push(block);
    return block;
  }
}

/** The pieces of a text, each as it can be stored; half of a character waits for its other half. */
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

/** Asks for the answer as a stream, and hands over each piece of its text; the next waits for a returned promise. */
export async function stream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  onText: (delta: string) => void | Promise<void>,
): Promise<RawAnswer> {
  const { stream: parts } = await model.doStream(options);
  const reader = parts.getReader();
  const blocks = new Blocks();
  const pieces = new Pieces();
  const end: Partial<Omit<RawAnswer, 'parts'>> = {};
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      if (done) break;
      blocks.take(part);
      if (part.type === 'text-delta') {
        const piece = pieces.take(part.delta);
        const handed = piece === '' ? undefined : onText(piece);
        if (handed !== undefined) await handed;
      } else if (part.type === 'error') throw part.error;
      else if (part.type === 'finish') Object.assign(end, { usage: part.usage, finish: part.finishReason });
    }
  } catch (error) {
    // Ends the connection, so that the provider stops generating what nobody reads.
    reader.cancel(error).catch(() => {});
    throw error;
  }
  if (end.usage === undefined || end.finish === undefined) throw new UnfinishedAnswer();
  const rest = pieces.end();
  if (rest !== '') await onText(rest);
  return { parts: blocks.parts, usage: end.usage, finish: end.finish };
}

/** Every text that the model wrote, to estimate what it cost where a server reports nothing. */
export function textsOf({ parts }: RawAnswer): string[] {
  return parts.map((part) => (part.type === 'tool-call' ? part.input : part.text));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** The arguments of a call. Models that call a tool without any write nothing, `{}` or `null`. */
function argumentsOf(text: string, wasCut: boolean): Pick<ModelToolCall, 'input' | 'problem'> {
  if (text.trim() === '') return { input: {}, problem: null };
  const wrong = (problem: string) => ({ input: {}, problem });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wasCut
      ? wrong('The arguments were cut off at the length limit of an answer. Make the call again with shorter ones.')
      : wrong('The arguments are not valid JSON. Make the call again with a JSON object.');
  }
  // Whatever walks over it does so by recursion.
  if (isDeeperThan(value, MAX_DEPTH))
    return wrong('The arguments nest too deeply. Make the call again with flatter ones.');
  if (isObject(value)) return { input: toStorableJson(value, MAX_DEPTH) as Record<string, unknown>, problem: null };
  if (value === null) return { input: {}, problem: null };
  return wrong(`The arguments must be a JSON object, not ${nameOf(value)}. Make the call again with an object.`);
}

/** A name that no tool has, as providers take it back: they refuse others in a conversation, and with them the next step. */
const fittingName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';

/** What an answer says and asks for. */
export type ReadAnswer = { text: string; content: AssistantPart[]; toolCalls: ModelToolCall[] };

/**
 * Reads an answer; nothing in it is left that PostgreSQL could not store. `toolNames` are the tools that the model may call; without any, calls that it asks for all the same are
 * dropped. `content` has what must go back to the model, and nothing empty.
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
      // Servers that know no ids send none, or the same for all calls.
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
