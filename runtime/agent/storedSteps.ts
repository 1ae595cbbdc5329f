import type { Selectable } from 'kysely';
import type { CallStateFormat1, ModelStateFormat1 } from '../../db/stored/stepState.ts';
import type { TurnSteps } from '../../generated/db.ts';
import type { ModelToolCall } from '../models/call.ts';
import type { AssistantPart } from '../models/prompt.ts';
import type { CallEffects } from './stepCalls.ts';
import type { CalledTool, EarlierSteps } from './stepLog.ts';
import type { ToolOrigin, ToolOutput } from './tool.ts';

/** A step as it is read to go on from it. */
export type StoredStep = Selectable<TurnSteps>;

/** What earlier attempts at a turn stored of the run of one agent. */
export interface RunRecord {
  /** Calls before the first answer, by their ids: those of the paused run that this one continued. */
  readonly first: ReadonlyMap<string, CallRecord>;
  /** The answers that asked for calls, in their order. */
  readonly answers: readonly AnswerRecord[];
}

/** An answer of a model that asked for calls. */
export interface AnswerRecord {
  writer: string;
  text: string;
  content: AssistantPart[];
  toolCalls: ModelToolCall[];
  /** The calls by their ids. None: they were not stored, so none of them was made. */
  calls: Map<string, CallRecord>;
  /** The turn that waited, and whose run was continued. */
  continues: string | undefined;
}

/** A call of a tool that was stored before it was made. */
export interface CallRecord {
  seq: number;
  origin: ToolOrigin | null;
  status: StoredStep['status'];
  /** Null: the call has not ended, as far as is known. */
  output: ToolOutput | null;
  /** Of a sub-agent: what it did. */
  run: RunRecord;
}

/** Thrown for steps from which this release cannot go on: an earlier one stored them. */
export class UnknownSteps extends Error {}

/** What earlier attempts stored, as the run of the conversation's agent. `steps` are those of the turn, in their order. Throws UnknownSteps. */
export function recordOf(steps: readonly StoredStep[], parent: number | null = null): RunRecord {
  const first = new Map<string, CallRecord>();
  const answers: AnswerRecord[] = [];
  for (const step of steps) {
    if (step.parent_seq !== parent) continue;
    if (step.kind === 'model') {
      if (step.state !== null) answers.push(answerOf(step, step.state as ModelStateFormat1));
      continue;
    }
    const state = step.state as CallStateFormat1 | null;
    if (state?.format !== 1) throw new UnknownSteps('A call was stored by another release.');
    const call = {
      seq: step.seq,
      origin: state.origin,
      status: step.status,
      output: outputOf(step),
      run: state.origin?.kind === 'sub_agent' ? recordOf(steps, step.seq) : { first: new Map(), answers: [] },
    };
    (answers.at(-1)?.calls ?? first).set(state.callId, call);
  }
  return { first, answers };
}

function answerOf({ output }: StoredStep, state: ModelStateFormat1): AnswerRecord {
  if (state.format !== 1) throw new UnknownSteps('An answer was stored by another release.');
  const content = state.content as AssistantPart[];
  const { text } = (output ?? {}) as { text?: unknown };
  const written = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    writer: state.writer,
    // Of a very long one the log has a part only.
    text: typeof text === 'string' ? text : written,
    content,
    toolCalls: content.flatMap((part) => {
      if (part.type !== 'tool-call') return [];
      const { toolCallId: id, toolName: name } = part;
      return [{ id, name, input: part.input as Record<string, unknown>, problem: state.problems?.[id] ?? null }];
    }),
    calls: new Map(),
    continues: state.continues,
  };
}

/** The output of a call that has ended; null for one that has not. */
function outputOf({ status, output }: StoredStep): ToolOutput | null {
  if (status === 'running' || status === 'waiting') return null;
  const { text, isError } = (output ?? {}) as Partial<ToolOutput>;
  return { text: text ?? '', isError: isError ?? status === 'failed' };
}

/** What the calls that ended did to the reply. */
export function effectsOf(steps: readonly StoredStep[]): CallEffects {
  const effects: CallEffects = {};
  for (const { kind, output } of steps) {
    if (kind !== 'tool' || output === null) continue;
    const { ui, handedOver } = output as CallEffects;
    if (ui) effects.ui = ui;
    if (handedOver) effects.handedOver = true;
  }
  return effects;
}

/** The steps as the log of the turn goes on from them. */
export function earlierSteps(steps: readonly StoredStep[]): EarlierSteps {
  const called = steps.filter(
    ({ kind, status, state }) => kind === 'tool' && (status !== 'waiting' || isDelegation(state)),
  );
  const own = called.filter(({ depth }) => depth === 0);
  return {
    next: Math.max(-1, ...steps.map(({ seq }) => seq)) + 1,
    usage: {
      inputTokens: sumOf(steps, ({ input_tokens }) => input_tokens),
      outputTokens: sumOf(steps, ({ output_tokens }) => output_tokens),
      costUsd: sumOf(steps, ({ cost_usd }) => cost_usd),
    },
    toolCalls: new Map(own.map((step) => [step.seq, calledTool(step)])),
    hasCalledTools: called.length > 0,
  };
}

const isDelegation = (state: StoredStep['state']): boolean =>
  state !== null && 'origin' in state && state.origin?.kind === 'sub_agent';

function calledTool({ name, duration_ms, status }: StoredStep): CalledTool {
  return { name, durationMs: duration_ms ?? 0, ok: status === 'done' };
}

function sumOf(steps: readonly StoredStep[], value: (step: StoredStep) => number | null): number {
  return steps.reduce((sum, step) => sum + Number(value(step) ?? 0), 0);
}
