import { newId } from '../../core/ids.ts';
import { storeApprovedOutput, takeApproved } from '../../db/queries/turns/approvals.ts';
import type { ModelToolCall } from '../models/call.ts';
import type { ToolResultPart } from '../models/prompt.ts';
import { NOT_KEPT, withoutFiles } from '../models/toolFiles.ts';
import type { AgentRun } from './agentRun.ts';
import {
  BEGUN_AND_UNKNOWN,
  GONE,
  MAX_CALLS,
  REJECTED,
  TOO_MANY,
  UNKNOWN,
  WAITS_FOR_OPERATOR,
  WITHDRAWN,
} from './callTexts.ts';
import { type LoggedFindings, loggedFindings } from './loggedFindings.ts';
import type { CallState, PausedCall, Resumption } from './paused.ts';
import type { CallStep, LoggedCall, StepAgent } from './stepLog.ts';
import type { AnswerRecord, CallRecord, RunRecord } from './storedSteps.ts';
import type { Suspension, ToolCallContext, ToolOutput } from './tool.ts';
import { runTool, type ToolsetEntry } from './toolset.ts';

const failed = (text: string): ToolOutput => ({ text, isError: true });
const done = (output: ToolOutput): CallState => ({ kind: 'done', output });

/**
 * What a call did to the reply of its turn, and what it found. It is stored with its output, for a process that goes on with the turn, and for
 * people who read it afterwards.
 */
export interface CallEffects {
  ui?: Record<string, unknown>;
  handedOver?: true;
  knowledge?: LoggedFindings;
}

/** The agent of a run, as its steps are stored. */
export function stepAgentOf({ scope: { agentId, path }, parentStep }: AgentRun): StepAgent {
  return { agentId, depth: path.length - 1, parent: parentStep ?? null };
}

/** The results of a step's calls, as the model reads them; of one that waits, that it does. */
export function resultsOf(calls: readonly PausedCall[]): ToolResultPart[] {
  return calls.map(({ toolCallId, toolName, state }) => ({
    toolCallId,
    toolName,
    ...(state.kind === 'done' ? state.output : { text: WAITS_FOR_OPERATOR, isError: false }),
  }));
}

/** Makes the tool calls that the model of a run asks for. */
export class StepCalls {
  readonly #run: AgentRun;

  constructor(run: AgentRun) {
    this.#run = run;
  }

  /** Makes the calls of a step in parallel. Calls that need an approval wait. Throws UNAVAILABLE when another process has the turn. */
  async make(calls: readonly ModelToolCall[]): Promise<PausedCall[]> {
    const { turn, toolset } = this.#run;
    const requested = calls.map((call, place) => {
      const entry = toolset.byName(call.name);
      const refusal =
        place >= MAX_CALLS
          ? TOO_MANY
          : !entry
            ? `There is no tool ${call.name}. There are: ${toolset.definitions.map(({ name }) => name).join(', ') || 'none'}.`
            : call.problem;
      const waits = refusal === null && entry?.tool.requiresApproval === true && turn.request.autoApprove !== true;
      return { ...call, entry, refusal, waits, origin: entry?.tool.origin ?? null };
    });
    // Given up for a newer message just now: then no tool may begin.
    turn.controller.signal.throwIfAborted();
    const stored = await this.#store(
      requested.map(({ id: callId, name, input, waits, origin }) => ({ name, input, waits, callId, origin })),
    );
    return settleAll(
      requested.map(async ({ id, name, input, entry, refusal, waits, origin }, place): Promise<PausedCall> => {
        const call = { toolCallId: id, toolName: name, origin };
        if (waits && entry) return { ...call, state: this.#requestApproval(entry, input) };
        const step = stored[place];
        if (refusal === null && entry) return { ...call, state: await this.#makeCall(entry, input, step) };
        const output = failed(refusal ?? '');
        step?.end({ ok: false, output });
        return { ...call, state: done(output) };
      }),
    );
  }

  /**
   * The calls of a step that an earlier attempt at the turn stored, with the outcomes that it stored. A sub-agent goes on from its own steps.
   * Calls that were about to wait ask for their approval again. No other call is made a second time.
   */
  again({ toolCalls, calls }: Pick<AnswerRecord, 'toolCalls' | 'calls'>): Promise<PausedCall[]> {
    // They are stored together, before any of them is made.
    if (calls.size === 0) return this.make(toolCalls);
    return settleAll(
      toolCalls.map(async ({ id, name, input }): Promise<PausedCall> => {
        const recorded = calls.get(id);
        const origin = recorded?.origin ?? null;
        const call = { toolCallId: id, toolName: name, origin };
        return { ...call, state: await this.#stateAgain(recorded, input) };
      }),
    );
  }

  async #stateAgain(recorded: CallRecord | undefined, input: Record<string, unknown>): Promise<CallState> {
    if (!recorded) return done(failed(BEGUN_AND_UNKNOWN));
    const { origin, output, status, seq, run } = recorded;
    if (output) return done(output);
    const entry = origin ? this.#run.toolset.byOrigin(origin) : undefined;
    if (!entry) return done(failed(status === 'waiting' ? GONE : BEGUN_AND_UNKNOWN));
    if (origin?.kind === 'sub_agent') return this.#makeCall(entry, input, this.#run.turn.steps.again(seq), run);
    return status === 'waiting' ? this.#requestApproval(entry, input) : done(failed(BEGUN_AND_UNKNOWN));
  }

  /** Continues a call of a paused run as far as the decisions allow. `recorded`: what an earlier attempt at the turn stored of it. */
  async resume(call: PausedCall, resumption: Resumption, recorded?: CallRecord): Promise<PausedCall> {
    const { state } = call;
    if (state.kind === 'done') return call;
    const entry = call.origin ? this.#run.toolset.byOrigin(call.origin) : undefined;
    if (state.kind === 'delegated') {
      if (recorded?.output) return { ...call, state: done(recorded.output) };
      const { resume } = entry?.tool ?? {};
      if (!resume) return { ...call, state: done(failed(GONE)) };
      const input = { task: state.paused.task };
      const step = recorded ? this.#run.turn.steps.again(recorded.seq) : await this.#storeOne(call, input);
      const effects: CallEffects = {};
      const output = await resume(state.paused, this.#context(effects, step, recorded?.run), resumption);
      return { ...call, state: this.#noteOutcome(output, step, effects) };
    }
    const output = await this.#decidedOutput(call, state, entry, resumption);
    return output ? { ...call, state: done(output) } : call;
  }

  /** The output of a call that waited for a decision; undefined while it still waits. */
  async #decidedOutput(
    call: PausedCall,
    { approvalId, input }: Extract<CallState, { kind: 'waiting' }>,
    entry: ToolsetEntry | undefined,
    { approvals, withdrawn }: Resumption,
  ): Promise<ToolOutput | undefined> {
    const approval = approvals.get(approvalId);
    if (approval?.status === 'pending') return undefined;
    if (approval?.status === 'done') return { text: approval.output ?? '', isError: approval.is_error === true };
    if (approval?.status === 'rejected') return failed(withdrawn.has(approvalId) ? WITHDRAWN : REJECTED);
    if (approval?.status !== 'approved') return failed(UNKNOWN);
    const { db, workspaceId } = this.#run.scope;
    if (!entry) return failed(GONE);
    const step = await this.#storeOne(call, input);
    // A process that dies from here on leaves the call as begun, and no process makes it a second time.
    if (!(await takeApproved(db, workspaceId, approvalId))) return failed(UNKNOWN);
    const effects: CallEffects = {};
    const output = await this.#runTool(entry, input, this.#context(effects, step));
    if ('paused' in output) return failed(GONE);
    const stored = withoutFiles(output, NOT_KEPT);
    await storeApprovedOutput(db, workspaceId, approvalId, stored);
    step?.end({ ok: !output.isError, output: { ...stored, ...effects } });
    return output;
  }

  async #makeCall(
    entry: ToolsetEntry,
    input: Record<string, unknown>,
    step: LoggedCall | undefined,
    record?: RunRecord,
  ): Promise<CallState> {
    const effects: CallEffects = {};
    return this.#noteOutcome(await this.#runTool(entry, input, this.#context(effects, step, record)), step, effects);
  }

  #noteOutcome(output: ToolOutput | Suspension, step: LoggedCall | undefined, effects: CallEffects): CallState {
    if ('paused' in output) {
      step?.end({ ok: true, output: null, waits: true });
      return { kind: 'delegated', paused: output.paused };
    }
    step?.end({ ok: !output.isError, output: { ...withoutFiles(output, NOT_KEPT), ...effects } });
    return done(output);
  }

  /** Asks for the approval of a call. */
  #requestApproval({ name, tool }: ToolsetEntry, input: Record<string, unknown>): CallState {
    const { scope, turn } = this.#run;
    const id = newId();
    turn.approvals.push({ id, agent_id: scope.agentId, tool_name: name, origin: tool.origin, input });
    return { kind: 'waiting', approvalId: id, input, requestedAt: scope.runtime.clock.now().toISOString() };
  }

  #context(effects: CallEffects, step: LoggedCall | undefined, record?: RunRecord): ToolCallContext {
    const { turn } = this.#run;
    return {
      signal: turn.controller.signal,
      showUi: (ui) => {
        turn.ui = ui;
        effects.ui = ui;
      },
      noteFindings: (findings) => {
        effects.knowledge = loggedFindings(findings);
      },
      handOver: () => {
        turn.isHandedOver = true;
        effects.handedOver = true;
      },
      step: step?.seq,
      record,
    };
  }

  /** Makes a call. A process that slept since the call was stored asks first whether the turn is still its own. */
  async #runTool(
    entry: ToolsetEntry,
    input: Record<string, unknown>,
    context: ToolCallContext,
  ): Promise<ToolOutput | Suspension> {
    const { turn, scope } = this.#run;
    await scope.runtime.turns.checkHeld(turn);
    return runTool(entry, input, context);
  }

  #store(calls: readonly CallStep[]): Promise<LoggedCall[]> {
    return this.#run.turn.steps.tools(stepAgentOf(this.#run), calls);
  }

  async #storeOne({ toolCallId: callId, toolName: name, origin }: PausedCall, input: unknown) {
    const [step] = await this.#store([{ name, input, waits: false, callId, origin }]);
    return step;
  }
}

/** Waits for all results, and throws the first failure only then, so that no work continues after the caller has failed. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
