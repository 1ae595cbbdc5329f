import type { Kysely } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { toStorableJson } from '../../core/json.ts';
import { shorten, toStorable } from '../../core/text.ts';
import type { TurnUsage } from '../../db/queries/turns/finishTurn.ts';
import { endStep, insertSteps, type StepOutcome, type StepRow } from '../../db/queries/turns/turnSteps.ts';
import type { DB } from '../../generated/db.ts';

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
}

/** A call of a model that has ended. */
export interface ModelStep {
  name: string;
  provider: string;
  status: 'done' | 'failed';
  input: unknown;
  output: unknown;
  durationMs: number;
  usage: TurnUsage | null;
  startedAt: Date;
}

const MAX_DEPTH = 100;
const MAX_NAME = 200;

/** Characters of JSON that are stored of an input or an output. */
const MAX_STORED = 100_000;

/** A value as it is stored; of a larger one the start, as text. */
function storable(value: unknown): unknown {
  const whole = toStorableJson(value, MAX_DEPTH) ?? null;
  const text = JSON.stringify(whole);
  return text.length <= MAX_STORED ? whole : { characters: text.length, start: shorten(text, MAX_STORED) };
}

/** Notes how a tool call ended. `waits`: a sub-agent that the call delegated to waits for an approval. */
export type StepEnd = (outcome: { ok: boolean; output: unknown; waits?: boolean }) => void;

/**
 * Stores the steps of a turn while it runs. Tool calls are stored before they are made, together with the model's step that asked for
 * them. The model's last step is stored by the statement that ends the turn, which saves a round trip.
 */
export class StepLog {
  readonly usage: TurnUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  /** Calls of the agent of the conversation, in the order in which they began. A delegation includes the calls of the sub-agent. */
  readonly toolCalls: CalledTool[] = [];
  readonly #db: Kysely<DB>;
  readonly #turn: { workspaceId: string; turnId: string };
  readonly #clock: Clock;
  /** Whether a tool was called, by whichever agent of the turn: its effects may have come about. */
  hasCalledTools = false;
  #next = 0;
  #unstored: StepRow[] = [];
  readonly #writing = new Set<Promise<void>>();
  #failure: unknown;

  constructor(db: Kysely<DB>, turn: { workspaceId: string; turnId: string }, clock: Clock) {
    this.#db = db;
    this.#turn = turn;
    this.#clock = clock;
  }

  /** Notes a call of a model. */
  model(agent: StepAgent, step: ModelStep): void {
    const { usage } = step;
    if (usage) {
      this.usage.inputTokens += usage.inputTokens;
      this.usage.outputTokens += usage.outputTokens;
      this.usage.costUsd += usage.costUsd;
    }
    this.#unstored.push({
      ...this.#row(agent, 'model', step.name),
      provider: step.provider,
      status: step.status,
      input: storable(step.input),
      output: storable(step.output),
      duration_ms: Math.round(step.durationMs),
      input_tokens: usage?.inputTokens ?? null,
      output_tokens: usage?.outputTokens ?? null,
      cost_usd: usage?.costUsd ?? null,
      started_at: step.startedAt,
    });
  }

  /** Stores tool calls that are about to be made or that wait for an approval. Returns for each the function that notes its outcome. */
  async tools(
    agent: StepAgent,
    calls: readonly { name: string; input: unknown; waits: boolean }[],
  ): Promise<StepEnd[]> {
    const started = performance.now();
    // Before the first await, so that nobody gives the turn up from here on.
    if (calls.some(({ waits }) => !waits)) this.hasCalledTools = true;
    const ends = calls.map(({ name, input, waits }): StepEnd => {
      const row = this.#row(agent, 'tool', name);
      this.#unstored.push({ ...row, status: waits ? 'waiting' : 'running', input: storable(input) });
      const called: CalledTool = { name, durationMs: 0, ok: false };
      if (agent.depth === 0 && !waits) this.toolCalls.push(called);
      return ({ ok, output, waits: paused = false }) => {
        called.durationMs = Math.round(performance.now() - started);
        called.ok = ok;
        const status = paused ? 'waiting' : ok ? 'done' : 'failed';
        this.#end(row.seq, { status, output: storable(output), duration_ms: called.durationMs });
      };
    });
    await this.#store();
    return ends;
  }

  /** Waits until all writes have ended, and returns the steps that are not stored yet. Throws when a write failed. */
  async settle(): Promise<StepRow[]> {
    await Promise.all(this.#writing);
    if (this.#failure !== undefined) throw this.#failure;
    return this.#unstored.splice(0);
  }

  #row({ agentId, depth }: StepAgent, kind: 'model' | 'tool', name: string) {
    return {
      seq: this.#next++,
      agent_id: agentId,
      depth,
      kind,
      name: shorten(toStorable(name), MAX_NAME),
      provider: null,
      output: null,
      duration_ms: null,
      input_tokens: null,
      output_tokens: null,
      cost_usd: null,
      started_at: this.#clock.now(),
    };
  }

  async #store(): Promise<void> {
    const { workspaceId, turnId } = this.#turn;
    await insertSteps(this.#db, workspaceId, turnId, this.#unstored.splice(0));
  }

  /** Writes in the background: the next call of the model does not wait for it. */
  #end(seq: number, outcome: StepOutcome): void {
    const { workspaceId, turnId } = this.#turn;
    const write: Promise<void> = endStep(this.#db, workspaceId, turnId, seq, outcome)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#writing.delete(write));
    this.#writing.add(write);
  }
}
