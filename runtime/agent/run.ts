import type { ModelStateFormat1 } from '../../db/stored/stepState.ts';
import { DEFAULT_MAX_ANSWER_BYTES } from '../models/answerLimit.ts';
import { callModel, type FinishReason, type ModelAnswer } from '../models/call.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { ModelMessage } from '../models/prompt.ts';
import { withoutProviderParts } from '../models/prompt.ts';
import { REFUSED, withinFileLimits, withoutToolFiles } from '../models/toolFiles.ts';
import { type AgentRun, callsLeft, type RunOutcome } from './agentRun.ts';
import { A_PERSON_DECIDES } from './callTexts.ts';
import { fitStep } from './fitResults.ts';
import { loggedFindings } from './loggedFindings.ts';
import { MAX_STEPS, noticeOf } from './notices.ts';
import type { PausedCall, PausedRun, Resumption } from './paused.ts';
import { resultsOf, StepCalls, settleAll, stepAgentOf } from './stepCalls.ts';
import { withinWindow } from './withinWindow.ts';

const BETWEEN_STEPS = '\n\n';

/** Identifies who wrote the calls of a run. A model that thinks must be shown its own thoughts beside its calls. */
const writerOf = ({ provider, modelId }: ModelDescriptor, thinks: boolean): string =>
  `${provider}/${modelId}${thinks ? ', thinking' : ''}`;

/** The loop of one agent: calls the model, makes the tool calls that it asks for, and calls it again until it asks for none. */
class AgentLoop {
  readonly #run: AgentRun;
  #messages: ModelMessage[];
  readonly #calls: StepCalls;
  #text = '';
  /** Where in it begins what was said after the last calls. */
  #afterCalls = 0;
  /** Text of earlier steps was streamed, so the next piece begins a new paragraph. */
  #startsParagraph = false;
  /** Whether this model wrote what the run goes on from. It must not be shown another's thoughts, and has none of its own beside those calls. */
  readonly #isSameWriter: boolean;
  readonly #thinks: boolean;
  /** Of the last answer. */
  #finishReason: FinishReason | null = null;
  /** Tokens that the messages are fitted to. */
  #window: number;
  /** Nothing of this run is stored yet. */
  #isFirst: boolean;

  constructor(run: AgentRun, messages: readonly ModelMessage[], isSameWriter: boolean) {
    this.#run = run;
    this.#messages = [...messages];
    this.#window = run.model.contextWindow;
    this.#isFirst = (run.record?.answers.length ?? 0) === 0;
    this.#calls = new StepCalls(run);
    this.#isSameWriter = isSameWriter;
    this.#thinks = isSameWriter && run.scope.snapshot.thinkingEnabled;
  }

  async run(): Promise<RunOutcome> {
    const { turn, record } = this.#run;
    const waiting = await this.#goOn();
    if (waiting) return this.#pause(waiting);
    for (let step = (record?.answers.length ?? 0) + 1; ; step += 1) {
      const last = step >= MAX_STEPS || callsLeft(turn, stepAgentOf(this.#run).depth) <= 1;
      let answer = await this.#callModel(last);
      // Models do this now and then. Asked once more, they mostly answer.
      const isAskedAgain = answer.finishReason === 'empty' && this.#isSilent && !last && turn.modelCallsLeft > 1;
      if (isAskedAgain) answer = await this.#callModel(last);
      this.#finishReason = answer.finishReason;
      this.#add(answer.text);
      const { maxAnswerBytes = DEFAULT_MAX_ANSWER_BYTES } = this.#run.scope.runtime.models;
      const isOversized = answer.isOversized === true || Buffer.byteLength(this.#text) > maxAnswerBytes;
      if (answer.toolCalls.length === 0 || last || isOversized) {
        const notice = noticeOf({
          answer,
          isSilent: this.#isSilent,
          exceededBytes: isOversized ? maxAnswerBytes : undefined,
          reachedLimit: last ? (step >= MAX_STEPS ? 'steps' : 'calls') : undefined,
        });
        if (notice !== undefined) this.#say(notice);
        return this.#outcome(null);
      }
      this.#messages.push({ role: 'assistant', content: answer.content });
      this.#afterCalls = this.#text.length;
      const calls = await this.#calls.make(answer.toolCalls);
      const paused = this.#addResults(calls);
      if (paused) return this.#pause(paused);
    }
  }

  /** Continues where the run was paused. */
  async resume(calls: readonly PausedCall[], resumption: Resumption): Promise<RunOutcome> {
    const { first } = this.#run.record ?? {};
    const resumed = await settleAll(
      calls.map((call) => this.#calls.resume(call, resumption, first?.get(call.toolCallId))),
    );
    const paused = this.#addResults(resumed);
    return paused ? this.#pause(paused) : this.run();
  }

  /** Goes through the steps that an earlier attempt at the turn stored. Returns the paused run when calls of the last one wait. */
  async #goOn(): Promise<PausedRun | null> {
    for (const answer of this.#run.record?.answers ?? []) {
      this.#add(answer.text);
      const said: ModelMessage[] = [{ role: 'assistant', content: answer.content }];
      this.#messages.push(...(this.#isSameWriter ? said : withoutProviderParts(said)));
      this.#afterCalls = this.#text.length;
      const paused = this.#addResults(await this.#calls.again(answer));
      if (paused) return paused;
    }
    return null;
  }

  /** Whether the run has come to nothing that a reader would see. */
  get #isSilent(): boolean {
    const { ui, isHandedOver } = this.#run.turn;
    return this.#text.trim() === '' && ui === null && !isHandedOver;
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
    if (stepAgentOf(this.#run).depth > 0 || turn.approvalsBy === 'user') return this.#outcome(paused);
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
    const reply = this.#text.slice(this.#afterCalls).trimStart();
    return { text: this.#text, reply, messages: this.#messages, paused, finishReason: this.#finishReason };
  }

  /** Adds the results to the messages when all calls are done. Returns the paused run when some are not. */
  #addResults(calls: PausedCall[]): PausedRun | null {
    if (calls.some(({ state }) => state.kind !== 'done')) {
      const { scope, model, task } = this.#run;
      const writer = writerOf(model, this.#thinks);
      return { agentId: scope.agentId, task, writer, messages: this.#messages, calls };
    }
    const messages: ModelMessage[] = [...this.#messages, { role: 'tool', content: resultsOf(calls) }];
    this.#messages = withinFileLimits(messages, this.#run.model.contextWindow);
    return null;
  }

  /** Calls the model with the messages so far, and these after them: with fewer when they do not fit its window. */
  async #callModel(last: boolean, after: readonly ModelMessage[] = []): Promise<ModelAnswer> {
    this.#run.turn.modelCallsLeft -= 1;
    const { answer, tokens } = await withinWindow(this.#run, this.#window, {
      fitTo: (window) => fitStep(this.#run, [...this.#messages, ...after], window),
      ask: (messages) => this.#ask(last, messages),
    });
    this.#window = tokens;
    return answer;
  }

  async #ask(last: boolean, messages: readonly ModelMessage[]): Promise<ModelAnswer> {
    const { scope, turn, model, system, toolset, onText } = this.#run;
    const { snapshot, runtime } = scope;
    const startedAt = runtime.clock.now();
    const started = performance.now();
    const { knowledge: found } = this.#run;
    const isSearched = this.#isFirst && scope.resources.knowledgeSourceIds.length > 0;
    const knowledge = isSearched && found && found.query.trim() !== '' ? loggedFindings(found) : undefined;
    this.#isFirst = false;
    const input = { messages: messages.length, tools: toolset.definitions.length, ...(knowledge && { knowledge }) };
    const thinking = { enabled: this.#thinks, effort: snapshot.thinkingEffort ?? undefined };
    const settings = {
      toolChoice: last ? ('none' as const) : ('auto' as const),
      temperature: snapshot.temperature ?? undefined,
      thinking,
    };
    // Instructions into which values were filled may say something of the user.
    const isSystemFixed = scope.instructions === (snapshot.systemPrompt ?? '');
    const sent = { system, isSystemFixed, tools: toolset.definitions, messages, settings };
    const request = turn.steps.request(stepAgentOf(this.#run), sent);
    const step = { name: model.modelId, provider: model.provider, input, request, startedAt };
    try {
      const answer = await callModel(runtime.models, {
        workspaceId: scope.workspaceId,
        model,
        system,
        messages,
        tools: toolset.definitions,
        ...settings,
        cacheId: `${scope.conversationId}/${scope.agentId}`,
        abortSignal: turn.controller.signal,
        onText: onText && ((delta) => this.#stream(delta, onText)),
      });
      turn.steps.model(stepAgentOf(this.#run), {
        ...step,
        status: 'done',
        output: { text: answer.text, toolCalls: answer.toolCalls, finishReason: answer.finishReason },
        durationMs: performance.now() - started,
        usage: { ...answer.usage, costUsd: answer.costUsd },
        finishReason: answer.finishReason,
        state: this.#stateOf(answer),
      });
      if (answer.refusedFiles) this.#messages = withoutToolFiles(this.#messages, REFUSED);
      return answer;
    } catch (error) {
      const output = { error: Error.isError(error) ? error.message : String(error) };
      turn.steps.model(stepAgentOf(this.#run), {
        ...step,
        status: 'failed',
        output,
        durationMs: performance.now() - started,
        usage: null,
        finishReason: null,
        state: null,
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

  /** What another process needs to go on from the answer. */
  #stateOf({ content, toolCalls }: ModelAnswer): ModelStateFormat1 | null {
    if (toolCalls.length === 0) return null;
    const problems = toolCalls.flatMap(({ id, problem }) => (problem === null ? [] : [[id, problem] as const]));
    return {
      format: 1,
      writer: writerOf(this.#run.model, this.#thinks),
      content,
      ...(problems.length > 0 ? { problems: Object.fromEntries(problems) } : {}),
      ...(this.#run.continues ? { continues: this.#run.continues } : {}),
    };
  }
}

/** Whether the model that the run has now wrote everything that it goes on from. */
function isSameWriter({ model, scope: { snapshot }, record }: AgentRun, ...others: readonly string[]): boolean {
  const writer = writerOf(model, snapshot.thinkingEnabled);
  return [...others, ...(record?.answers ?? []).map((answer) => answer.writer)].every((each) => each === writer);
}

/**
 * Runs an agent until it answers or must wait for approvals. Throws MODEL_PROVIDER_ERROR, the reason of the turn's signal, or a fault of
 * this service. Failures of its tools are results that the model reads.
 */
export function runAgent(run: AgentRun): Promise<RunOutcome> {
  return new AgentLoop(run, [], isSameWriter(run)).run();
}

/** Continues a paused run with the decisions that were made since. Each approved call is made once. Throws as `runAgent` does. */
export function resumeAgent(run: AgentRun, paused: PausedRun, resumption: Resumption): Promise<RunOutcome> {
  const same = isSameWriter(run, paused.writer);
  const messages = same ? paused.messages : withoutProviderParts(paused.messages);
  return new AgentLoop(run, messages, same).resume(paused.calls, resumption);
}
