import { newId } from '../../core/ids.ts';
import { storeApprovedOutput, takeApproved } from '../../db/queries/turns/approvals.ts';
import { DEFAULT_MAX_ANSWER_BYTES } from '../models/answerLimit.ts';
import { callModel, type ModelAnswer } from '../models/call.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { ModelMessage, ToolResultPart } from '../models/prompt.ts';
import { withoutProviderParts } from '../models/prompt.ts';
import { type AgentRun, callsLeft, type RunOutcome } from './agentRun.ts';
import {
  A_PERSON_DECIDES,
  GONE,
  MAX_CALLS,
  REJECTED,
  TOO_MANY,
  UNKNOWN,
  WAITS_FOR_OPERATOR,
  WITHDRAWN,
} from './callTexts.ts';
import { fitStep } from './fitResults.ts';
import { MAX_STEPS, noticeOf } from './notices.ts';
import type { PausedCall, PausedRun, Resumption } from './paused.ts';
import type { StepEnd } from './stepLog.ts';
import type { Suspension, ToolOutput } from './tool.ts';
import { runTool, type Toolset, type ToolsetEntry } from './toolset.ts';

/** Characters of the instructions that are stored with the first step of an agent. */
const MAX_SYSTEM_STORED = 20_000;
const BETWEEN_STEPS = '\n\n';

/** Identifies who wrote the calls of a run. A model that thinks must be shown its own thoughts beside its calls. */
const writerOf = ({ provider, modelId }: ModelDescriptor, thinks: boolean): string =>
  `${provider}/${modelId}${thinks ? ', thinking' : ''}`;
const failed = (text: string): ToolOutput => ({ text, isError: true });

/** The loop of one agent: calls the model, makes the tool calls that it asks for, and calls it again until it asks for none. */
class AgentLoop {
  readonly #run: AgentRun;
  readonly #messages: ModelMessage[];
  #text = '';
  /** Text of earlier steps was streamed, so the next piece begins a new paragraph. */
  #startsParagraph = false;
  readonly #thinks: boolean;
  /** The instructions are stored with an earlier step. */
  #systemStored = false;

  constructor(run: AgentRun, messages: readonly ModelMessage[], thinks: boolean) {
    this.#run = run;
    this.#messages = [...messages];
    this.#thinks = thinks;
  }

  async run(): Promise<RunOutcome> {
    const { toolset, turn } = this.#run;
    for (let step = 1; ; step += 1) {
      const last = step >= MAX_STEPS || callsLeft(turn, this.#agent.depth) <= 1;
      const answer = await this.#callModel(last);
      this.#add(answer.text);
      const { maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES } = this.#run.scope.runtime.models;
      const isOversized = answer.isOversized === true || Buffer.byteLength(this.#text) > maxAnswerBytes;
      if (answer.toolCalls.length === 0 || last || isOversized) {
        const notice = noticeOf({
          finishReason: answer.finishReason,
          exceededBytes: isOversized ? maxAnswerBytes : undefined,
          reachedLimit: last ? (step >= MAX_STEPS ? 'steps' : 'calls') : undefined,
        });
        if (notice !== undefined) this.#say(notice);
        return this.#outcome(null);
      }
      this.#messages.push({ role: 'assistant', content: answer.content });
      const calls = await this.#callTools(answer, toolset);
      const paused = this.#addResults(calls);
      if (paused) return this.#pause(paused);
    }
  }

  /** Continues where the run was paused. */
  async resume(calls: readonly PausedCall[], resumption: Resumption): Promise<RunOutcome> {
    const resumed = await settleAll(calls.map((call) => this.#resumeCall(call, resumption)));
    const paused = this.#addResults(resumed);
    return paused ? this.#pause(paused) : this.run();
  }

  /** Adds a step's text to that of the run. */
  #add(text: string): void {
    this.#text += `${this.#text !== '' && text !== '' ? BETWEEN_STEPS : ''}${text}`;
    this.#startsParagraph = this.#text !== '';
  }

  /** Adds a sentence of the service to the reply. */
  #say(notice: string): void {
    if (this.#run.onText) this.#stream(notice, this.#run.onText);
    this.#add(notice);
  }

  /** Where the user cannot decide, the reply says that a person will: in words of the model, or else in the service's own. */
  async #pause(paused: PausedRun): Promise<RunOutcome> {
    const { turn, model, scope } = this.#run;
    if (this.#agent.depth > 0 || turn.approvalsBy === 'user') return this.#outcome(paused);
    let words = '';
    try {
      // The built-in model would quote what it is told.
      if (model.provider !== 'builtin' && turn.modelCallsLeft > 0) {
        words = (await this.#callModel(true, [{ role: 'tool', content: resultsOf(paused.calls) }])).text;
      }
    } catch (error) {
      turn.controller.signal.throwIfAborted();
      scope.logger?.warn({ err: error }, 'the model did not say that a person decides');
    }
    if (words.trim() === '') this.#say(A_PERSON_DECIDES);
    else this.#add(words);
    return this.#outcome(paused);
  }

  #outcome(paused: PausedRun | null): RunOutcome {
    return { text: this.#text, messages: this.#messages, paused };
  }

  /** Adds the results to the messages when all calls are done. Returns the paused run when some are not. */
  #addResults(calls: PausedCall[]): PausedRun | null {
    if (calls.some(({ state }) => state.kind !== 'done')) {
      const { scope, model, task } = this.#run;
      const writer = writerOf(model, this.#thinks);
      return { agentId: scope.agentId, task, writer, messages: this.#messages, calls };
    }
    this.#messages.push({ role: 'tool', content: resultsOf(calls) });
    return null;
  }

  /** Calls the model with the messages so far, and these after them. */
  async #callModel(last: boolean, after: readonly ModelMessage[] = []): Promise<ModelAnswer> {
    const { scope, turn, model, system, toolset, onText } = this.#run;
    const { snapshot, runtime } = scope;
    const messages = fitStep(this.#run, [...this.#messages, ...after]);
    const startedAt = runtime.clock.now();
    const started = performance.now();
    const counts = { messages: messages.length, tools: toolset.definitions.length };
    // The instructions hold the knowledge of this moment, which is stored nowhere else. Later steps have the same ones.
    const input = this.#systemStored ? counts : { ...counts, system: system.slice(0, MAX_SYSTEM_STORED) };
    this.#systemStored = true;
    const step = { name: model.modelId, provider: model.provider, input, startedAt };
    turn.modelCallsLeft -= 1;
    try {
      const answer = await callModel(runtime.models, {
        model,
        system,
        messages,
        tools: toolset.definitions,
        toolChoice: last ? 'none' : 'auto',
        temperature: snapshot.temperature ?? undefined,
        thinking: { enabled: this.#thinks, effort: snapshot.thinkingEffort ?? undefined },
        abortSignal: turn.controller.signal,
        onText: onText && ((delta) => this.#stream(delta, onText)),
      });
      turn.steps.model(this.#agent, {
        ...step,
        status: 'done',
        output: { text: answer.text, toolCalls: answer.toolCalls, finishReason: answer.finishReason },
        durationMs: performance.now() - started,
        usage: { ...answer.usage, costUsd: answer.costUsd },
      });
      return answer;
    } catch (error) {
      const output = { error: Error.isError(error) ? error.message : String(error) };
      turn.steps.model(this.#agent, {
        ...step,
        status: 'failed',
        output,
        durationMs: performance.now() - started,
        usage: null,
      });
      throw error;
    }
  }

  #stream(delta: string, onText: (delta: string) => void): void {
    if (this.#startsParagraph) {
      this.#startsParagraph = false;
      onText(BETWEEN_STEPS);
    }
    onText(delta);
  }

  get #agent() {
    const { agentId, path } = this.#run.scope;
    return { agentId, depth: path.length - 1 };
  }

  /** Makes the calls of a step in parallel. Calls that need an approval wait. */
  async #callTools(answer: ModelAnswer, toolset: Toolset): Promise<PausedCall[]> {
    const { turn } = this.#run;
    const requested = answer.toolCalls.map((call, place) => {
      const entry = toolset.byName(call.name);
      const refusal =
        place >= MAX_CALLS
          ? TOO_MANY
          : !entry
            ? `There is no tool ${call.name}. There are: ${toolset.definitions.map(({ name }) => name).join(', ') || 'none'}.`
            : call.problem;
      const waits = refusal === null && entry?.tool.requiresApproval === true && turn.request.autoApprove !== true;
      return { ...call, entry, refusal, waits };
    });
    // Given up for a newer message just now: then no tool may begin.
    turn.controller.signal.throwIfAborted();
    const ends = await turn.steps.tools(
      this.#agent,
      requested.map(({ name, input, waits }) => ({ name, input, waits })),
    );
    return settleAll(
      requested.map(async ({ id, name, input, entry, refusal, waits }, place): Promise<PausedCall> => {
        const call = { toolCallId: id, toolName: name, origin: entry?.tool.origin ?? null };
        if (waits && entry) return { ...call, state: this.#requestApproval(entry, input) };
        const end = ends[place];
        const output = refusal !== null || !entry ? failed(refusal ?? '') : await this.#runTool(entry, input);
        return { ...call, state: this.#noteOutcome(output, end) };
      }),
    );
  }

  #noteOutcome(output: ToolOutput | Suspension, end: StepEnd | undefined): PausedCall['state'] {
    if ('paused' in output) {
      end?.({ ok: true, output: null, waits: true });
      return { kind: 'delegated', paused: output.paused };
    }
    end?.({ ok: !output.isError, output });
    return { kind: 'done', output };
  }

  /** Asks for the approval of a call. */
  #requestApproval({ name, tool }: ToolsetEntry, input: Record<string, unknown>): PausedCall['state'] {
    const { scope, turn } = this.#run;
    const id = newId();
    turn.approvals.push({ id, agent_id: scope.agentId, tool_name: name, origin: tool.origin, input });
    return { kind: 'waiting', approvalId: id, input, requestedAt: scope.runtime.clock.now().toISOString() };
  }

  #call() {
    const { turn } = this.#run;
    return {
      signal: turn.controller.signal,
      showUi: (ui: Record<string, unknown>) => {
        turn.ui = ui;
      },
      handOver: () => {
        turn.isHandedOver = true;
      },
    };
  }

  #runTool(entry: ToolsetEntry, input: Record<string, unknown>): Promise<ToolOutput | Suspension> {
    return runTool(entry, input, this.#call());
  }

  /** Continues a call of a paused run as far as the decisions allow. */
  async #resumeCall(call: PausedCall, resumption: Resumption): Promise<PausedCall> {
    const { state } = call;
    if (state.kind === 'done') return call;
    const entry = call.origin ? this.#run.toolset.byOrigin(call.origin) : undefined;
    if (state.kind === 'delegated') {
      if (!entry?.tool.resume) return { ...call, state: { kind: 'done', output: failed(GONE) } };
      const input = { task: state.paused.task };
      const [end] = await this.#run.turn.steps.tools(this.#agent, [{ name: call.toolName, input, waits: false }]);
      const output = await entry.tool.resume(state.paused, this.#call(), resumption);
      return { ...call, state: this.#noteOutcome(output, end) };
    }
    const output = await this.#decidedOutput(call.toolName, state, entry, resumption);
    return output ? { ...call, state: { kind: 'done', output } } : call;
  }

  /** The output of a call that waited for a decision; undefined while it still waits. */
  async #decidedOutput(
    name: string,
    { approvalId, input }: Extract<PausedCall['state'], { kind: 'waiting' }>,
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
    const [end] = await this.#run.turn.steps.tools(this.#agent, [{ name, input, waits: false }]);
    // A process that dies from here on leaves the call as begun, and no process makes it a second time.
    if (!(await takeApproved(db, workspaceId, approvalId))) return failed(UNKNOWN);
    const output = await this.#runTool(entry, input);
    if ('paused' in output) return failed(GONE);
    await storeApprovedOutput(db, workspaceId, approvalId, output);
    end?.({ ok: !output.isError, output });
    return output;
  }
}

/** The results of a step's calls, as the model reads them; of one that waits, that it does. */
function resultsOf(calls: readonly PausedCall[]): ToolResultPart[] {
  return calls.map(({ toolCallId, toolName, state }) => ({
    toolCallId,
    toolName,
    ...(state.kind === 'done' ? state.output : { text: WAITS_FOR_OPERATOR, isError: false }),
  }));
}

/** Waits for all results, and throws the first failure only then, so that no work continues after the caller has failed. */
async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * Runs an agent until it answers or must wait for approvals. Throws MODEL_PROVIDER_ERROR, the reason of the turn's signal, or a fault of
 * this service. Failures of its tools are results that the model reads.
 */
export function runAgent(run: AgentRun): Promise<RunOutcome> {
  return new AgentLoop(run, [], run.scope.snapshot.thinkingEnabled).run();
}

/** Continues a paused run with the decisions that were made since. Each approved call is made once. Throws as `runAgent` does. */
export function resumeAgent(run: AgentRun, paused: PausedRun, resumption: Resumption): Promise<RunOutcome> {
  const { thinkingEnabled } = run.scope.snapshot;
  const same = paused.writer === writerOf(run.model, thinkingEnabled);
  // This model has no thoughts of its own beside these calls, and it must not be shown another's: it continues without thinking.
  const messages = same ? paused.messages : withoutProviderParts(paused.messages);
  return new AgentLoop(run, messages, same && thinkingEnabled).resume(paused.calls, resumption);
}
