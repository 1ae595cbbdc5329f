import type { PromptPart } from '../../db/queries/turns/promptParts.ts';
import type {
  StepRequestFormat1,
  StoredPartReference,
  StoredRequestMessage,
  StoredRequestSettings,
} from '../../db/stored/stepRequest.ts';
import type { ModelTool } from '../models/call.ts';
import type { ModelMessage } from '../models/prompt.ts';
import { DIGEST_BYTES, type LogValue, MAX_CHUNK, sizeOf } from './requestChunks.ts';
import type { KnownBeginning, KnownRequest, RequestMemory } from './requestMemory.ts';
import { loggedMessages } from './requestMessages.ts';
import { digestsOf, jsonsOf, type Slices } from './requestSlices.ts';
import { weekOf } from './requestWeek.ts';

/** What a model is sent in a step. */
export interface ModelRequest {
  system: string;
  /** Whether the instructions are the agent's own, and have nothing of the conversation or its user. */
  isSystemFixed: boolean;
  tools: readonly ModelTool[];
  messages: readonly ModelMessage[];
  settings: StoredRequestSettings;
}

/** What is stored of a request. */
export interface PreparedRequest {
  /** JSON; in UTF-8 when it is long. */
  json: string | Buffer;
  /** Those that it names and that may not be stored yet. */
  parts: PromptPart[];
  /** For the requests after it. */
  known: Omit<KnownRequest, 'seq'>;
}

/** Bytes of JSON that are stored of the messages of one step. The newest are kept. */
const MAX_MESSAGES = 10_000_000;
/** Shorter ones cost less where they are than as a part of their own. */
const MIN_PART = 512;
/** Requests that have to be read to have one whole. */
const MAX_DEPTH = 256;
/** What is stored of messages, and its digests one after the other. Those of a turn are the same objects in all of its steps. */
const logged = new WeakMap<ModelMessage, { stored: readonly StoredRequestMessage[]; digests: Buffer }>();
const NONE = Buffer.alloc(0);

/**
 * Turns what the models of a turn are sent into what is stored of it. Of a request that begins like an earlier one of the conversation, only
 * what comes after that. Files become notes of their name, kind and size.
 */
export class RequestLog {
  readonly #memory: RequestMemory;
  readonly #turn: { workspaceId: string; turnId: string; conversationId: string };
  readonly #week: string;
  /** Requests of this turn. */
  readonly #own: KnownRequest[] = [];

  constructor(memory: RequestMemory, turn: { workspaceId: string; turnId: string; conversationId: string }) {
    this.#memory = memory;
    this.#turn = turn;
    this.#week = weekOf(turn.turnId);
  }

  /**
   * What is stored of the request of a step. That of a large one is made in slices, so that other requests are served meanwhile.
   */
  async prepare(agentId: string, request: ModelRequest): Promise<PreparedRequest> {
    const { messages, settings } = request;
    await digestMessages(messages);
    const known = {
      turnId: this.#turn.turnId,
      agentId,
      week: this.#week,
      ...(await this.#beginning(agentId, request)),
      messages: Buffer.concat(messages.map((message) => logged.get(message)?.digests ?? NONE)),
      depth: 1,
    };
    const base = this.#baseOf(known);
    if (base) known.depth = base.from.depth + 1;
    const parts: PromptPart[] = [];
    /** The JSON of a field, or the reference to the part that it is. */
    const field = async (value: LogValue, digest: string, mayBePart: boolean): Promise<string | Buffer> => {
      const isStored = mayBePart && this.#memory.hasPart(this.#partKey(agentId, digest));
      if (!isStored) {
        if (!mayBePart || sizeOf(value) < MIN_PART) return jsonOf(value);
        parts.push({ agentId, week: this.#week, digest, content: await jsonOf(value) });
      }
      return JSON.stringify({ part: digest } satisfies StoredPartReference);
    };
    const texts: (string | Buffer)[] = ['{"format":1'];
    if (base) {
      const { turnId, seq } = base.from;
      const named = { turnId, seq, messages: base.messages } satisfies StepRequestFormat1['base'];
      texts.push(`,"base":${JSON.stringify(named)}`);
    }
    if (base?.from.system !== known.system) {
      texts.push(',"system":', await field(request.system, known.system, request.isSystemFixed));
    }
    if (base?.from.tools !== known.tools) texts.push(',"tools":', await field(request.tools, known.tools, true));
    texts.push(`,"settings":${JSON.stringify(settings)},"messages":[`);
    const own = await jsonOfMessages(messagesAfter(messages, base?.messages ?? 0));
    texts.push(...own.flatMap((json, place) => (place === 0 ? [json] : [',', json])), ']}');
    return { json: joined(texts), parts, known };
  }

  /** Notes the step of a request that is about to be stored. */
  added({ known }: PreparedRequest, seq: number): void {
    this.#own.push({ ...known, seq });
  }

  /** Notes that a part is stored. */
  partStored({ agentId, digest }: PromptPart): void {
    this.#memory.rememberPart(this.#partKey(agentId, digest));
  }

  /** Notes that the steps of the turn up to now are stored: the next turn may begin like the last request of `agentId`. */
  stored(agentId: string): void {
    const last = this.#own.findLast((one) => one.agentId === agentId);
    if (last) this.#memory.remember(this.#turn.conversationId, last);
  }

  /** The digests of instructions and tools. Nearly all requests of an agent have those of the one before. */
  async #beginning(agentId: string, { system, tools }: ModelRequest): Promise<KnownBeginning['digests']> {
    const agent = `${this.#turn.workspaceId}/${agentId}`;
    const last = this.#memory.beginningOf(agent);
    const known = {
      system: last?.system === system ? last.digests.system : undefined,
      tools: last && areSame(last.tools, tools) ? last.digests.tools : undefined,
    };
    if (last && known.system !== undefined && known.tools !== undefined) return last.digests;
    const digests = {
      system: known.system ?? (await digestOfValue(system)).toString('hex'),
      tools: known.tools ?? (await digestOfValue(tools)).toString('hex'),
    };
    this.#memory.rememberBeginning(agent, { system, tools, digests });
    return digests;
  }

  /** The request that this one has most of its beginning in common with. */
  #baseOf(request: Omit<KnownRequest, 'seq'>): { from: KnownRequest; messages: number } | undefined {
    const last = this.#memory.lastOf(this.#turn.conversationId);
    let best: { from: KnownRequest; messages: number } | undefined;
    let most = 0;
    for (const from of last ? [last, ...this.#own] : this.#own) {
      if (from.agentId !== request.agentId || from.week !== request.week || from.depth >= MAX_DEPTH) continue;
      const messages = commonMessages(from.messages, request.messages);
      // Instructions that are filled in for a conversation may be longer than a message.
      const shared = messages + (from.system === request.system ? 1 : 0);
      if (shared < most || shared === 0) continue;
      most = shared;
      best = { from, messages };
    }
    return best;
  }

  #partKey(agentId: string, digest: string): string {
    return `${this.#turn.workspaceId}/${agentId}/${this.#week}/${digest}`;
  }
}

/** Finds what is stored of messages, and its digests. */
async function digestMessages(messages: readonly ModelMessage[]): Promise<void> {
  const unknown = messages.filter((message) => !logged.has(message));
  if (unknown.length === 0) return;
  const lists = new Map<ModelMessage, readonly StoredRequestMessage[]>();
  const values = function* () {
    for (const message of unknown) {
      const stored = loggedMessages(message);
      lists.set(message, stored);
      yield* stored;
    }
  };
  let found: Buffer[] = [];
  let place = 0;
  const note = (digest: Buffer): void => {
    found.push(digest);
    const message = unknown[place];
    const stored = message && lists.get(message);
    if (!stored || found.length !== stored.length) return;
    logged.set(message, { stored, digests: found.length === 1 ? digest : Buffer.concat(found) });
    found = [];
    place += 1;
  };
  const slices = digestsOf(values());
  if (Array.isArray(slices)) slices.forEach(note);
  else for await (const slice of slices) slice.forEach(note);
}

/** Whether two lists have the same tools. Schemas are never changed in place. */
const areSame = (one: readonly ModelTool[], other: readonly ModelTool[]): boolean =>
  one === other ||
  (one.length === other.length &&
    one.every(({ name, description, inputSchema }, place) => {
      const tool = other[place];
      return tool?.name === name && tool.description === description && tool.inputSchema === inputSchema;
    }));

async function only<Result>(slices: Slices<Result>): Promise<Result> {
  if (Array.isArray(slices) && slices[0] !== undefined) return slices[0];
  for await (const [result] of Array.isArray(slices) ? [] : slices) if (result !== undefined) return result;
  throw new Error('A value came to nothing.');
}

const digestOfValue = (value: LogValue) => only(digestsOf([value]));
const jsonOf = (value: LogValue) => only(jsonsOf([value]));

/** How many digests two lists begin with in common. */
function commonMessages(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length) / DIGEST_BYTES;
  for (let place = 0; place < most; place += 1) {
    const [from, to] = [place * DIGEST_BYTES, (place + 1) * DIGEST_BYTES];
    if (one.compare(other, from, to, from, to) !== 0) return place;
  }
  return most;
}

/** What is stored of the messages, without the first `count` of it. */
function messagesAfter(messages: readonly ModelMessage[], count: number): StoredRequestMessage[] {
  let left = count;
  return messages.flatMap((message) => {
    const stored = logged.get(message)?.stored ?? [];
    const kept = Math.min(left, stored.length);
    left -= kept;
    return kept === 0 ? stored : stored.slice(kept);
  });
}

/** The messages as JSON. When they are too many, the first ones are notes of their length, and no JSON is made of them. */
async function jsonOfMessages(messages: readonly StoredRequestMessage[]): Promise<(string | Buffer)[]> {
  // Nearly all.
  if (messages.reduce((sum, message) => sum + sizeOf(message), 0) <= MAX_CHUNK) {
    return messages.map((message) => JSON.stringify(message));
  }
  const newestFirst = messages.toReversed();
  const fitting = function* () {
    // Their JSON is not shorter.
    let room = MAX_MESSAGES;
    for (const message of newestFirst) {
      room -= sizeOf(message);
      if (room < 0) return;
      yield message;
    }
  };
  let left = MAX_MESSAGES;
  const texts: (string | Buffer)[] = [];
  const take = (json: string | Buffer): void => {
    left -= json.length;
    if (left >= 0) texts.push(json);
  };
  const slices = jsonsOf(fitting());
  if (Array.isArray(slices)) slices.forEach(take);
  else {
    for await (const slice of slices) {
      slice.forEach(take);
      if (left < 0) break;
    }
  }
  const omitted = newestFirst.slice(texts.length).map((message) => {
    const note: StoredRequestMessage = { role: message.role, omitted: sizeOf(message) };
    return JSON.stringify(note);
  });
  return [...texts, ...omitted].reverse();
}

/** One text of several; bytes if one of them is. */
function joined(texts: readonly (string | Buffer)[]): string | Buffer {
  if (texts.every((text) => typeof text === 'string')) return texts.join('');
  return Buffer.concat(texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text)));
}
