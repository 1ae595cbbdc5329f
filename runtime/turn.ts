// Long because a turn is one story from the request to the stored reply, and each of its steps can end it in its own way.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { type ApiError, fault } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { type ConversationRow, findConversation } from '../db/queries/conversations.ts';
import { loadHistory, type MessageRow } from '../db/queries/messages.ts';
import * as store from '../db/queries/turns.ts';
import type { DB } from '../generated/db.ts';
import {
  type AttachmentInput,
  checkAttachments,
  type ResolvedAttachment,
  resolveAttachments,
  type StoredAttachment,
  toModelParts,
  toStored,
  withAttachmentNotes,
} from './attachments.ts';
import { fitHistory } from './history.ts';
import { callModel, type ModelAnswer } from './models/call.ts';
import type { ModelDescriptor } from './models/catalogue.ts';
import type { Runtime } from './runtime.ts';
import type { Snapshot } from './snapshot.ts';
import { abortable, type Lease } from './turnRegistry.ts';
import { renderPrompt } from './variables.ts';
import { valueProblem } from './variableValues.ts';

/** What an end user says to an agent. */
export interface TurnRequest {
  agentId: string;
  content: string;
  attachments: readonly AttachmentInput[];
  /** Absent: a new conversation. */
  conversationId: string | undefined;
  /** These three count for a new conversation only. */
  externalUserId: string | undefined;
  isTest: boolean;
  metadata: Record<string, unknown> | undefined;
}

/** Where a turn runs. */
export interface TurnContext {
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Runtime;
}

/** What a turn tells while it goes on. */
export interface TurnListener {
  /** Milliseconds until AGENT_TIMEOUT. */
  timeoutMs: number;
  /** The conversation, once the user's message is stored. */
  onConversation?: (conversationId: string) => void;
  /** Given: the reply is streamed, piece by piece. */
  onText?: (delta: string) => void;
}

/** A turn that went well, as it is stored. */
export interface TurnResult {
  conversation: ConversationRow;
  message: MessageRow;
  model: ModelDescriptor;
  answer: ModelAnswer;
  durationMs: number;
}

/** A turn whose request is sound. What can still go wrong is the state of things, the model, or the time. */
export interface PreparedTurn {
  /**
   * Answers the user. Throws AGENT_NOT_PUBLISHED, CONVERSATION_PAUSED, CONVERSATION_ENDED, MISSING_VARIABLE,
   * ATTACHMENT_TOO_LARGE, UNSUPPORTED_ATTACHMENT, OPERATION_LIMIT_REACHED, AGENT_TIMEOUT, MODEL_PROVIDER_ERROR,
   * UNAVAILABLE. Once the user's message is stored it stays, and the conversation is free again, whatever happens.
   */
  run(listener: TurnListener): Promise<TurnResult>;
}

const SNIPPET_LENGTH = 200;
const MODEL_GONE = 'The AI model of the published version is no longer available. Choose another and publish.';
/** Room for the reply in the context window: a quarter of it, and no more than replies commonly take. */
const REPLY_RESERVE = 8_192;
const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 250;
/** No token of the usual vocabularies stands for more text on average: what lies beyond cannot fit the window. */
const BYTES_PER_TOKEN = 8;

/** The beginning of a text on one line, for lists. */
function snippetOf(text: string): string {
  return Array.from(
    text
      .slice(0, 4 * SNIPPET_LENGTH)
      .replace(/\s+/g, ' ')
      .trim(),
  )
    .slice(0, SNIPPET_LENGTH)
    .join('');
}

/**
 * Looks at a request before anything is stored. Throws AGENT_NOT_FOUND, CONVERSATION_NOT_FOUND or VALIDATION_ERROR: what
 * is wrong with the request itself. Everything else is thrown by `run`.
 */
export async function prepareTurn(context: TurnContext, request: TurnRequest): Promise<PreparedTurn> {
  const { db, workspaceId, runtime } = context;
  checkAttachments(request.attachments);
  const subject = await store.findTurnSubject(db, workspaceId, request.agentId, request.conversationId ?? null);
  if (!subject) throw fault('AGENT_NOT_FOUND');
  if (request.conversationId !== undefined && subject.conversation_id === null) throw fault('CONVERSATION_NOT_FOUND');

  const refuse = (error: ApiError): PreparedTurn => ({ run: () => Promise.reject(error) });
  if (subject.status !== 'active' || subject.published_version_number === null)
    return refuse(fault('AGENT_NOT_PUBLISHED'));
  if (subject.is_ended) return refuse(fault('CONVERSATION_ENDED'));
  if (subject.is_paused) return refuse(fault('CONVERSATION_PAUSED'));
  const snapshot = await runtime.snapshot(db, workspaceId, request.agentId, subject.published_version_number);
  if (!snapshot) return refuse(fault('AGENT_NOT_PUBLISHED'));
  let system: string;
  try {
    system = systemPrompt(snapshot, request, subject.metadata);
  } catch (error) {
    const problem = error as ApiError;
    if (problem.status === 400) throw problem;
    return refuse(problem);
  }
  const limited = subject.operation_limit !== null;
  return {
    run: (listener) =>
      runtime.turns.run(async (controller) => {
        const timer = setTimeout(() => {
          controller.abort(
            fault('AGENT_TIMEOUT', `The agent did not finish within ${Math.round(listener.timeoutMs / 1000)} s.`),
          );
        }, listener.timeoutMs);
        try {
          return await new Turn(context, request, snapshot, system, controller.signal, listener).run(limited);
        } finally {
          clearTimeout(timer);
        }
      }),
  };
}

function systemPrompt(snapshot: Snapshot, request: TurnRequest, stored: Record<string, unknown> | null): string {
  const prompt = snapshot.systemPrompt ?? '';
  if (!snapshot.dynamicPromptEnabled) return prompt;
  const definitions = Object.values(snapshot.variablesSnapshot);
  const given = request.metadata?.variables;
  // The first message's values stay with the conversation; a later message's count for its own turn. A kept value can have
  // lost its type or option with a later version: that is not this message's fault, so it is as if there were none.
  const kept = (stored?.variables ?? {}) as Record<string, unknown>;
  const fitting = definitions.filter(
    (one) => Object.hasOwn(kept, one.name) && valueProblem(one, kept[one.name]) === null,
  );
  const values = Object.fromEntries(fitting.map(({ name }) => [name, kept[name]]));
  return renderPrompt(prompt, definitions, { ...values, ...(given as object | undefined) }).text;
}

class Turn {
  readonly #startedAt = performance.now();
  readonly #context: TurnContext;
  readonly #request: TurnRequest;
  readonly #snapshot: Snapshot;
  readonly #system: string;
  readonly #signal: AbortSignal;
  readonly #listener: TurnListener;
  readonly #lease: Lease;

  constructor(
    context: TurnContext,
    request: TurnRequest,
    snapshot: Snapshot,
    system: string,
    signal: AbortSignal,
    listener: TurnListener,
  ) {
    this.#context = context;
    this.#request = request;
    this.#snapshot = snapshot;
    this.#system = system;
    this.#signal = signal;
    this.#listener = listener;
    this.#lease = {
      workspaceId: context.workspaceId,
      conversationId: request.conversationId ?? newId(),
      turnId: newId(),
    };
  }

  async run(limited: boolean): Promise<TurnResult> {
    const { db, workspaceId, runtime } = this.#context;
    const model = await this.#model();
    const attachments = await this.#attachments(model);
    if (!limited) return this.#inConversation(model, attachments);
    const now = runtime.clock.now();
    if (!(await store.takeOperation(db, workspaceId, now))) throw fault('OPERATION_LIMIT_REACHED');
    try {
      return await this.#inConversation(model, attachments);
    } catch (error) {
      // When the database is out of reach the operation stays counted: never more than the limit allows.
      await store.returnOperation(db, workspaceId, now).catch(() => {});
      throw error;
    }
  }

  /** Undefined when it is gone: a failure of the model, so only once the user's message is stored. */
  async #model(): Promise<ModelDescriptor | undefined> {
    const { db, workspaceId, runtime } = this.#context;
    const id = this.#snapshot.aiModelPublicId;
    return id === null ? undefined : runtime.findModel(db, workspaceId, id);
  }

  async #attachments(model: ModelDescriptor | undefined): Promise<ResolvedAttachment[]> {
    try {
      return await resolveAttachments(this.#request.attachments, {
        model: model ?? { name: 'unknown', supportsImage: true, supportsDocument: true },
        allowPrivateNetwork: this.#context.runtime.allowPrivateNetwork,
        signal: this.#signal,
      });
    } catch (error) {
      if (this.#isTimeout(error)) await this.#keep(this.#start([]));
      throw error;
    }
  }

  #isTimeout(error: unknown): boolean {
    return this.#signal.aborted && (error as ApiError).code === 'AGENT_TIMEOUT';
  }

  /** The time ran out before the turn began: what the user wrote is kept all the same. */
  async #keep(start: () => store.TurnStart): Promise<void> {
    const { db } = this.#context;
    if (this.#request.conversationId !== undefined) return store.storeUnanswered(db, start());
    await store.beginConversation(db, start(), this.#conversationStart());
    await store.releaseConversation(db, this.#lease);
  }

  /** Begins the conversation, or waits for its turn in it, and then answers. */
  async #inConversation(model: ModelDescriptor | undefined, attachments: ResolvedAttachment[]): Promise<TurnResult> {
    const { db, runtime } = this.#context;
    const { conversationId } = this.#request;
    const start = this.#start(attachments);
    if (conversationId === undefined) {
      await store.beginConversation(db, start(), this.#conversationStart());
      return this.#answer(model, attachments, start().message.id);
    }
    let release = () => {};
    try {
      release = await runtime.turns.queue(conversationId, this.#signal);
      await this.#claim(start);
    } catch (error) {
      release();
      if (this.#isTimeout(error)) await this.#keep(start);
      throw error;
    }
    try {
      return await this.#answer(model, attachments, start().message.id);
    } finally {
      release();
    }
  }

  #start(attachments: readonly ResolvedAttachment[]): () => store.TurnStart {
    const { content, agentId } = this.#request;
    const message = { id: newId(), content, attachments: toStored(attachments), snippet: snippetOf(content) };
    return () => ({ ...this.#lease, agentId, now: this.#context.runtime.clock.now(), message });
  }

  #conversationStart(): store.ConversationStart {
    const { externalUserId, isTest, metadata } = this.#request;
    return { externalUserId: externalUserId ?? newId(), isTest, metadata: metadata ?? {} };
  }

  /** Takes the conversation as soon as no other replica's turn holds it. */
  async #claim(start: () => store.TurnStart): Promise<void> {
    const { db, workspaceId } = this.#context;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      this.#signal.throwIfAborted();
      if (await store.claimConversation(db, start())) return;
      const conversation = await findConversation(db, workspaceId, this.#lease.conversationId);
      if (!conversation) throw fault('CONVERSATION_NOT_FOUND');
      if (conversation.is_ended) throw fault('CONVERSATION_ENDED');
      if (conversation.is_paused) throw fault('CONVERSATION_PAUSED');
      await abortable(sleep(wait), this.#signal);
    }
  }

  /** Asks the model and stores what it says. From here on the turn holds the conversation. */
  async #answer(
    model: ModelDescriptor | undefined,
    attachments: ResolvedAttachment[],
    messageId: string,
  ): Promise<TurnResult> {
    const { db, runtime } = this.#context;
    return runtime.turns.holding(this.#lease, async () => {
      try {
        this.#listener.onConversation?.(this.#lease.conversationId);
        if (!model) throw fault('MODEL_PROVIDER_ERROR', MODEL_GONE);
        const answer = await callModel(runtime.models, {
          model,
          system: this.#system,
          messages: await this.#messages(model, attachments, messageId),
          temperature: this.#snapshot.temperature ?? undefined,
          thinking: { enabled: this.#snapshot.thinkingEnabled, effort: this.#snapshot.thinkingEffort ?? undefined },
          abortSignal: this.#signal,
          onText: this.#listener.onText,
        });
        return await this.#store(model, answer);
      } catch (error) {
        // When the database is out of reach the lease runs out by itself.
        await store.releaseConversation(db, this.#lease).catch(() => {});
        throw error;
      }
    });
  }

  async #messages(model: ModelDescriptor, attachments: ResolvedAttachment[], messageId: string) {
    const { content, conversationId } = this.#request;
    const text = content === '' ? [] : [{ type: 'text' as const, text: content }];
    const newest = {
      role: 'user' as const,
      content: attachments.length === 0 ? content : [...text, ...toModelParts(attachments)],
    };
    if (conversationId === undefined) return [newest];
    const { db, workspaceId } = this.#context;
    const rows = await loadHistory(db, workspaceId, conversationId, messageId, model.contextWindow * BYTES_PER_TOKEN);
    const turns = rows.map(({ role, content: said, attachments: files }) => ({
      role,
      content: withAttachmentNotes(said, files as StoredAttachment[]),
    }));
    const reserveForReply = Math.min(REPLY_RESERVE, Math.floor(model.contextWindow / 4));
    const { messages } = await fitHistory({
      contextWindow: model.contextWindow,
      reserveForReply,
      systemText: this.#system,
      turns,
      newest: { content, attachments },
      tokenizer: model.provider === 'openai' ? 'o200k' : 'other',
    });
    return [...messages, newest];
  }

  async #store(model: ModelDescriptor, answer: ModelAnswer): Promise<TurnResult> {
    const { db, workspaceId, runtime } = this.#context;
    // PostgreSQL keeps no NUL, and no half of a surrogate pair: a stream may be cut within one.
    const content = answer.text.replaceAll('\u0000', '').toWellFormed();
    const stored = await store.finishTurn(db, this.#lease, {
      id: newId(),
      content,
      snippet: snippetOf(content),
      model: model.modelId,
      provider: model.provider,
      inputTokens: answer.usage.inputTokens,
      outputTokens: answer.usage.outputTokens,
      costUsd: answer.costUsd,
      costOps: 1,
      now: runtime.clock.now(),
    });
    if (stored) return { ...stored, model, answer, durationMs: Math.round(performance.now() - this.#startedAt) };
    // Deleted meanwhile; or this process was cut off from the database for so long that another took the conversation.
    if (await findConversation(db, workspaceId, this.#lease.conversationId)) throw fault('UNAVAILABLE');
    throw fault('CONVERSATION_NOT_FOUND');
  }
}
