import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../../core/clock.ts';
import { fault } from '../../core/errors.ts';
import { storableText, toStorableJson } from '../../core/json.ts';
import { ownTurn } from '../../core/ownTurn.ts';
import { shorten, toStorable } from '../../core/text.ts';
import type { TurnUsage } from '../../db/queries/turns/finishTurn.ts';
import type { HeldTurn } from '../../db/queries/turns/leases.ts';
import { insertPromptPart, type PromptPart } from '../../db/queries/turns/promptParts.ts';
import { endStep, insertSteps, type StepOutcome, type StepRow } from '../../db/queries/turns/turnSteps.ts';
import type { CallStateFormat1, ModelStateFormat1 } from '../../db/stored/stepState.ts';
import type { DB } from '../../generated/db.ts';
import { type ModelRequest, type PreparedRequest, RequestLog } from './requestLog.ts';
import type { RequestMemory } from './requestMemory.ts';

/** A tool call of the turn, as the caller of the turn sees it. */
export interface CalledTool {
  name: string;
  durationMs: number;
  ok: boolean;
}

/** The agent that takes a step, and how many agents delegated down to it. */
export interface StepAgent {
  agentId: string;
  depth: number;
  /** The step of the delegation within which it works; null for the agent of the conversation. */
  parent: number | null;
}

/** A call of a model that has ended. */
export interface ModelStep {
  name: string;
  provider: string;
  status: 'done' | 'failed';
  input: unknown;
  /** What the model was sent, from `request`; null = it is not stored. */
  request: Promise<PreparedRequest | null>;
  output: unknown;
  durationMs: number;
  usage: StepUsage | null;
  /** Why the answer ended; null = there is none. */
  finishReason: string | null;
  /** What another process needs to go on from the answer; null when it asks for no calls. */
  state: ModelStateFormat1 | null;
  startedAt: Date;
}

/** A call of a tool that is about to be made, or that waits for an approval. */
export interface CallStep extends Omit<CallStateFormat1, 'format'> {
  name: string;
  input: unknown;
  waits: boolean;
}

/** What a call of a model used. The tokens that the provider read from its cache or wrote to it are parts of `inputTokens`. */
export interface StepUsage extends TurnUsage {
  cachedInputTokens: number;
  /** Undefined where the provider does not report it. */
  cacheWriteTokens?: number | undefined;
}

const MAX_DEPTH = 100;
const MAX_NAME = 200;

/** Characters of JSON that are stored of an input or an output. */
const MAX_STORED = 100_000;

/** A value as it is stored; of a larger one the start, as text. */
function storable(value: unknown, most = MAX_STORED): unknown {
  const whole = toStorableJson(value, MAX_DEPTH) ?? null;
  const text = JSON.stringify(whole);
  return text.length <= most ? whole : { characters: text.length, start: shorten(text, most) };
}

/** A state as a JSON text, in the order in which it is; null for none, and for one that nests too deeply. */
const stateText = (state: ModelStateFormat1 | CallStateFormat1 | null): string | null =>
  state && (storableText(state, MAX_DEPTH) ?? null);

/** Characters of JSON that are stored of a tool's output: it has 40,000 characters at most, each of which JSON may write as six. */
const MAX_OUTPUT_STORED = 400_000;

/** A call of a tool that is stored. */
export interface LoggedCall {
  /** The number of its step in the turn. */
  seq: number;
  /** Notes how it ended. `waits`: a sub-agent that the call delegated to waits for an approval. */
  end(outcome: { ok: boolean; output: unknown; waits?: boolean }): void;
}

/** The steps that earlier attempts at a turn have stored. */
export interface EarlierSteps {
  /** The number of the next step. */
  next: number;
  usage: TurnUsage;
  /** Calls of the agent of the conversation, by the numbers of their steps. */
  toolCalls: ReadonlyMap<number, CalledTool>;
  hasCalledTools: boolean;
}

/**
 * Stores the steps of a turn while it runs. Tool calls are stored before they are made, together with the model's step that asked for
 * them. The model's last step is stored by the statement that ends the turn, which saves a round trip.
 */
export class StepLog {
  readonly usage: TurnUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  /** Calls of the agent of the conversation, in the order in which they began. A delegation includes the calls of the sub-agent. */
  readonly toolCalls: CalledTool[] = [];
  readonly #db: Kysely<DB>;
  readonly #turn: HeldTurn;
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, 'warn'> | undefined;
  readonly #requests: RequestLog;
  /** Whether a tool was called, by whichever agent of the turn: its effects may have come about. */
  hasCalledTools = false;
  #next = 0;
  #earlierCalls: ReadonlyMap<number, CalledTool> = new Map();
  /** Those of models wait for what is stored of their requests. */
  #unstored: (StepRow | Promise<StepRow>)[] = [];
  readonly #writing = new Set<Promise<void>>();
  /** The latest insertion of steps. Insertions follow one another: agents at work side by side share `#unstored`. */
  #storing: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(
    db: Kysely<DB>,
    turn: HeldTurn,
    { clock, requests, logger }: { clock: Clock; requests: RequestMemory; logger?: Pick<Logger, 'warn'> | undefined },
    earlier?: EarlierSteps,
  ) {
    this.#db = db;
    this.#turn = turn;
    this.#clock = clock;
    this.#logger = logger;
    this.#requests = new RequestLog(requests, turn);
    if (!earlier) return;
    this.#next = earlier.next;
    Object.assign(this.usage, earlier.usage);
    this.#earlierCalls = new Map([...earlier.toolCalls].map(([seq, call]) => [seq, { ...call }]));
    this.toolCalls.push(...this.#earlierCalls.values());
    this.hasCalledTools = earlier.hasCalledTools;
  }

  /**
   * Begins to make what is stored of a request; that of a large one takes a while. Never rejects: an answer is worth more than its explanation.
   */
  async request({ agentId }: StepAgent, request: ModelRequest): Promise<PreparedRequest | null> {
    try {
      // It may begin like those. Not like those that come while it waits: its own is one of them when the model answers at once.
      const before = [...this.#unstored];
      // The model is asked first, and this is made while it answers.
      await ownTurn();
      await Promise.all(before);
      return await this.#requests.prepare(agentId, request);
    } catch (error) {
      this.#logger?.warn({ err: error, turnId: this.#turn.turnId }, 'what a model was sent could not be stored');
      return null;
    }
  }

  /** Notes a call of a model. */
  model(agent: StepAgent, step: ModelStep): void {
    const { usage } = step;
    if (usage) {
      this.usage.inputTokens += usage.inputTokens;
      this.usage.outputTokens += usage.outputTokens;
      this.usage.costUsd += usage.costUsd;
    }
    const row = this.#row(agent, 'model', step.name);
    const ended: StepRow = {
      ...row,
      provider: step.provider,
      status: step.status,
      input: storable(step.input),
      output: storable(step.output),
      duration_ms: Math.round(step.durationMs),
      input_tokens: usage?.inputTokens ?? null,
      output_tokens: usage?.outputTokens ?? null,
      cached_input_tokens: usage?.cachedInputTokens ?? null,
      cache_write_tokens: usage?.cacheWriteTokens ?? null,
      finish_reason: step.finishReason,
      state: stateText(step.state),
      cost_usd: usage?.costUsd ?? null,
      started_at: step.startedAt,
    };
    this.#unstored.push(step.request.then((request) => this.#withRequest(ended, request)));
  }

  /**
   * Stores tool calls that are about to be made or that wait for an approval. Throws UNAVAILABLE when another process has taken the turn over:
   * then none of them may be made.
   */
  async tools(agent: StepAgent, calls: readonly CallStep[]): Promise<LoggedCall[]> {
    // Before the first await, so that nobody gives the turn up from here on.
    if (calls.some(({ waits }) => !waits)) this.hasCalledTools = true;
    const stored = calls.map(({ name, input, waits, callId, origin }): LoggedCall => {
      const row = this.#row(agent, 'tool', name);
      const state = stateText({ format: 1, callId, origin });
      this.#unstored.push({ ...row, status: waits ? 'waiting' : 'running', input: storable(input), state });
      const called: CalledTool = { name, durationMs: 0, ok: false };
      if (agent.depth === 0 && !waits) this.toolCalls.push(called);
      return this.#call(row.seq, called);
    });
    await this.#store();
    return stored;
  }

  /** A call of an earlier attempt that goes on: a delegation to a sub-agent. */
  again(seq: number): LoggedCall {
    return this.#call(seq, this.#earlierCalls.get(seq) ?? { name: '', durationMs: 0, ok: false });
  }

  /** Waits until all writes have ended, and returns the steps that are not stored yet. Throws when a write failed. */
  async settle(): Promise<StepRow[]> {
    const steps = await Promise.all(this.#unstored.splice(0));
    await Promise.all(this.#writing);
    if (this.#failure !== undefined) throw this.#failure;
    return steps;
  }

  #call(seq: number, called: CalledTool): LoggedCall {
    const started = performance.now();
    return {
      seq,
      end: ({ ok, output, waits = false }) => {
        called.durationMs = Math.round(performance.now() - started);
        called.ok = ok;
        const status = waits ? 'waiting' : ok ? 'done' : 'failed';
        this.#end(seq, { status, output: storable(output, MAX_OUTPUT_STORED), duration_ms: called.durationMs });
      },
    };
  }

  /** Notes that the steps which `settle` returned are stored. */
  settled(agentId: string): void {
    this.#requests.stored(agentId);
  }

  #withRequest(step: StepRow, request: PreparedRequest | null): StepRow {
    if (!request) return step;
    this.#requests.added(request, step.seq);
    for (const part of request.parts) this.#storePart(part);
    return { ...step, request: request.json };
  }

  /** Stores a part of a request in the background. If that fails, the next request that has it tries again. */
  #storePart(part: PromptPart): void {
    const write: Promise<void> = insertPromptPart(this.#db, this.#turn.workspaceId, part)
      .then(() => this.#requests.partStored(part))
      .catch((error: unknown) =>
        this.#logger?.warn({ err: error, turnId: this.#turn.turnId }, 'a part of what models are sent was not stored'),
      )
      .finally(() => this.#writing.delete(write));
    this.#writing.add(write);
  }

  #row({ agentId, depth, parent }: StepAgent, kind: 'model' | 'tool', name: string) {
    return {
      seq: this.#next++,
      agent_id: agentId,
      depth,
      parent_seq: parent,
      kind,
      name: shorten(toStorable(name), MAX_NAME),
      provider: null,
      output: null,
      duration_ms: null,
      input_tokens: null,
      output_tokens: null,
      cached_input_tokens: null,
      cache_write_tokens: null,
      finish_reason: null,
      cost_usd: null,
      request: null,
      state: null,
      started_at: this.#clock.now(),
    };
  }

  /** Returns when all steps that are noted up to now are stored, by this insertion or by the one before it. */
  #store(): Promise<void> {
    this.#storing = this.#storing.then(async () => {
      const steps = await Promise.all(this.#unstored.splice(0));
      // What ended before is stored before: whoever goes on with the turn finds no open call behind these. A model took longer.
      await Promise.all(this.#writing);
      if (!(await insertSteps(this.#db, this.#turn, steps))) throw fault('UNAVAILABLE');
    });
    return this.#storing;
  }

  /** Writes in the background: the next call of the model does not wait for it. */
  #end(seq: number, outcome: StepOutcome): void {
    const write: Promise<void> = endStep(this.#db, this.#turn, seq, outcome)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#writing.delete(write));
    this.#writing.add(write);
  }
}
