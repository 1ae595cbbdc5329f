import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { type ApiError, fault } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { type ConversationRow, findConversation } from '../db/queries/conversations.ts';
import type { MessageRow } from '../db/queries/messages.ts';
import * as store from '../db/queries/turns.ts';
import type { DB } from '../generated/db.ts';
import { type AttachmentInput, type ResolvedAttachment, resolveAttachments, toStored } from './attachments.ts';
import { callModel, type ModelAnswer } from './models/call.ts';
import type { ModelDescriptor } from './models/catalogue.ts';
import type { Runtime } from './runtime.ts';
import type { Snapshot } from './snapshot.ts';
import { historyBefore, userMessage } from './turnPrompt.ts';
import { abortable, type Lease } from './turnRegistry.ts';

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

/** What is known of a turn before it begins. */
export interface TurnPlan {
  request: TurnRequest;
  /** The published version that answers. */
  snapshot: Snapshot;
  /** The system prompt, its variables filled in. */
  system: string;
  /** Whether the workspace's operations are counted against a limit. */
  limited: boolean;
}

const SNIPPET_LENGTH = 200;
const MODEL_GONE = 'The AI model of the published version is no longer available. Choose another and publish.';
const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 250;

/** The beginning of a text on one line, for lists. */
function snippetOf(text: string): string {
  const line = text
    .slice(0, 4 * SNIPPET_LENGTH)
    .replace(/\s+/g, ' ')
    .trim();
  return Array.from(line).slice(0, SNIPPET_LENGTH).join('');
}

/**
 * One turn, from the prepared request to the stored reply: bring in the attachments, take an operation, take the
 * conversation, ask the model, store what it says. `run` once; prepareTurn.ts says what it throws.
 */
export class Turn {
  readonly #startedAt = performance.now();
  readonly #context: TurnContext;
  readonly #plan: TurnPlan;
  readonly #listener: TurnListener;
  readonly #signal: AbortSignal;
  readonly #lease: Lease;

  constructor(context: TurnContext, plan: TurnPlan, listener: TurnListener, signal: AbortSignal) {
    this.#context = context;
    this.#plan = plan;
    this.#listener = listener;
    this.#signal = signal;
    this.#lease = {
      workspaceId: context.workspaceId,
      conversationId: plan.request.conversationId ?? newId(),
      turnId: newId(),
    };
  }

  async run(): Promise<TurnResult> {
    const { db, workspaceId, runtime } = this.#context;
    const model = await this.#model();
    const attachments = await this.#attachments(model);
    if (!this.#plan.limited) return this.#inConversation(model, attachments);
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
    const id = this.#plan.snapshot.aiModelPublicId;
    return id === null ? undefined : runtime.findModel(db, workspaceId, id);
  }

  async #attachments(model: ModelDescriptor | undefined): Promise<ResolvedAttachment[]> {
    try {
      return await resolveAttachments(this.#plan.request.attachments, {
        model: model ?? { name: 'unknown', supportsImage: true, supportsDocument: true },
        allowPrivateNetwork: this.#context.runtime.allowPrivateNetwork,
        signal: this.#signal,
      });
    } catch (error) {
      if (this.#isTimeout(error)) await this.#keep(this.#message([]));
      throw error;
    }
  }

  #isTimeout(error: unknown): boolean {
    return this.#signal.aborted && (error as ApiError).code === 'AGENT_TIMEOUT';
  }

  /** The user's message as it is stored, under a new id. */
  #message(attachments: readonly ResolvedAttachment[]): store.UserMessage {
    const { content } = this.#plan.request;
    return { id: newId(), content, attachments: toStored(attachments), snippet: snippetOf(content) };
  }

  #startWith(message: store.UserMessage): store.TurnStart {
    return { ...this.#lease, agentId: this.#plan.request.agentId, now: this.#context.runtime.clock.now(), message };
  }

  async #begin(message: store.UserMessage): Promise<void> {
    const { externalUserId = newId(), isTest, metadata = {} } = this.#plan.request;
    await store.beginConversation(this.#context.db, this.#startWith(message), { externalUserId, isTest, metadata });
  }

  /** The time ran out before the turn began: what the user wrote is kept all the same. */
  async #keep(message: store.UserMessage): Promise<void> {
    const { db } = this.#context;
    if (this.#plan.request.conversationId !== undefined) return store.storeUnanswered(db, this.#startWith(message));
    await this.#begin(message);
    await store.releaseConversation(db, this.#lease);
  }

  /** Begins the conversation, or waits for its turn in it, and then answers. */
  async #inConversation(model: ModelDescriptor | undefined, attachments: ResolvedAttachment[]): Promise<TurnResult> {
    const { conversationId } = this.#plan.request;
    const message = this.#message(attachments);
    if (conversationId === undefined) {
      await this.#begin(message);
      return this.#answer(model, attachments, message.id);
    }
    let release = () => {};
    try {
      release = await this.#context.runtime.turns.queue(conversationId, this.#signal);
      await this.#claim(message);
    } catch (error) {
      release();
      if (this.#isTimeout(error)) await this.#keep(message);
      throw error;
    }
    try {
      return await this.#answer(model, attachments, message.id);
    } finally {
      release();
    }
  }

  /** Takes the conversation as soon as no other replica's turn holds it. */
  async #claim(message: store.UserMessage): Promise<void> {
    const { db, workspaceId } = this.#context;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      this.#signal.throwIfAborted();
      if (await store.claimConversation(db, this.#startWith(message))) return;
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
    const { snapshot, system } = this.#plan;
    return runtime.turns.holding(this.#lease, async () => {
      try {
        this.#listener.onConversation?.(this.#lease.conversationId);
        if (!model) throw fault('MODEL_PROVIDER_ERROR', MODEL_GONE);
        const answer = await callModel(runtime.models, {
          model,
          system,
          messages: await this.#messages(model, attachments, messageId),
          temperature: snapshot.temperature ?? undefined,
          thinking: { enabled: snapshot.thinkingEnabled, effort: snapshot.thinkingEffort ?? undefined },
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

  async #messages(model: ModelDescriptor, attachments: ResolvedAttachment[], id: string) {
    const { request, system } = this.#plan;
    const { content } = request;
    const newest = userMessage(content, attachments);
    if (request.conversationId === undefined) return [newest];
    const message = { ...this.#lease, id, content, attachments };
    return [...(await historyBefore(this.#context.db, message, model, system)), newest];
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
