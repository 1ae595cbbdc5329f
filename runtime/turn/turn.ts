import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiError, fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findConversation } from '../../db/queries/conversations/conversations.ts';
import { failTurn } from '../../db/queries/turns/finishTurn.ts';
import * as store from '../../db/queries/turns/turns.ts';
import { returnOperation, takeOperation } from '../../db/queries/workspaces/operations.ts';
import type { AgentScope } from '../agent/tool.ts';
import { transcribeAttachments } from '../audio/transcribe.ts';
import { retrieve } from '../capabilities/knowledge.ts';
import { type ResolvedAttachment, resolveAttachments, type StoredAttachment, toStored } from '../files/attachments.ts';
import { historyBytes } from '../prompt/messages.ts';
import { type Answering, answerTurn } from './answer.ts';
import { snippetOf } from './snippet.ts';
import { abortable, type Lease } from './turnRegistry.ts';
import type { TurnContext, TurnListener, TurnPlan, TurnResult } from './types.ts';

const FIRST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 250;

/** The message as the model gets it. */
interface Brought {
  attachments: ResolvedAttachment[];
  stored: StoredAttachment[];
  /** What models get in place of the content. */
  modelText: string | null;
}

const NOTHING_BROUGHT: Brought = { attachments: [], stored: [], modelText: null };

/** What a turn that begins finds in its conversation. */
type Taken = Pick<Answering, 'history' | 'waiting'>;

/**
 * One turn, from the prepared request to the stored reply: bring in the attachments, take an operation, take the conversation, let the
 * agent answer, store what it says. `run` once; prepareTurn.ts says what it throws.
 */
export class Turn {
  readonly #startedAt = performance.now();
  readonly #context: TurnContext;
  readonly #plan: TurnPlan;
  readonly #listener: TurnListener;
  readonly #signal: AbortSignal;
  readonly #lease: Lease;
  /** An operation of the month that is to be given back when the turn fails. */
  #operationTakenAt: Date | undefined;

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
    const { db, workspaceId } = this.#context;
    try {
      const scope = await this.#scope();
      const brought = await this.#bring(scope);
      return await this.#inConversation(scope, brought);
    } catch (error) {
      // When the database is out of reach the operation stays counted: never more than the limit allows.
      const takenAt = this.#operationTakenAt;
      if (takenAt) await returnOperation(db, workspaceId, this.#lease.turnId, takenAt).catch(() => {});
      throw error;
    }
  }

  async #scope(): Promise<AgentScope> {
    const { db, workspaceId, runtime } = this.#context;
    const { request, versionNumber, snapshot, revision, externalUserId } = this.#plan;
    const { agentId } = request;
    const resources = await runtime.resources.get(db, workspaceId, runtime, {
      agentId,
      versionNumber,
      snapshot,
      revision,
    });
    const { conversationId } = this.#lease;
    return {
      db,
      workspaceId,
      runtime,
      logger: runtime.logger,
      agentId,
      conversationId,
      externalUserId,
      snapshot,
      resources,
    };
  }

  /** Brings in what the message refers to: its attachments, and the text of its command. */
  async #bring({ resources: { model }, snapshot }: AgentScope): Promise<Brought> {
    const { request, command } = this.#plan;
    const text = command?.text ?? null;
    if (request.attachments.length === 0) return { ...NOTHING_BROUGHT, modelText: text };
    const { runtime } = this.#context;
    try {
      const resolved = await resolveAttachments(request.attachments, {
        // A model that is gone is a failure of the model: told only once the user's message is stored.
        model: model ?? { name: 'unknown', supportsImage: true, supportsDocument: true },
        listens: snapshot.audioListeningEnabled,
        allowPrivateNetwork: runtime.allowPrivateNetwork,
        signal: this.#signal,
      });
      if (!resolved.some(({ kind }) => kind === 'audio')) {
        return { attachments: resolved, stored: toStored(resolved), modelText: text };
      }
      // Hearing costs money: not for a message that the limit refuses.
      await this.#takeOperation();
      const heard = await transcribeAttachments(runtime.models, resolved, { model, signal: this.#signal });
      const said = [text ?? request.content, heard.text ?? ''].filter((part) => part !== '').join('\n\n');
      return { attachments: heard.attachments, stored: heard.stored, modelText: said };
    } catch (error) {
      if (this.#isTimeout(error)) await this.#keep(this.#message({ ...NOTHING_BROUGHT, modelText: text }));
      throw error;
    }
  }

  #isTimeout(error: unknown): boolean {
    return this.#signal.aborted && (error as ApiError).code === 'AGENT_TIMEOUT';
  }

  /** The user's message as it is stored, under a new id. */
  #message({ stored, modelText }: Brought): store.UserMessage {
    const { content } = this.#plan.request;
    const snippet = snippetOf(content === '' ? (modelText ?? '') : content);
    return { id: newId(), content, modelText, attachments: stored, snippet };
  }

  #startWith<Message extends store.UserMessage | null>(message: Message) {
    const { request, kind, versionNumber, command, limited } = this.#plan;
    return {
      ...this.#lease,
      agentId: request.agentId,
      versionNumber,
      kind,
      message,
      now: this.#context.runtime.clock.now(),
      commandId: command?.id ?? null,
      takeOperation: limited && !this.#operationTakenAt,
    };
  }

  #tookOperation(start: { now: Date; takeOperation: boolean }, taken: boolean): void {
    if (!start.takeOperation) return;
    if (!taken) throw fault('OPERATION_LIMIT_REACHED');
    this.#operationTakenAt = start.now;
  }

  /** Takes it ahead of the statement that begins the turn; once. */
  async #takeOperation(): Promise<void> {
    if (!this.#plan.limited || this.#operationTakenAt) return;
    const { db, workspaceId, runtime } = this.#context;
    const now = runtime.clock.now();
    this.#tookOperation({ now, takeOperation: true }, await takeOperation(db, workspaceId, now));
  }

  async #begin(message: store.UserMessage): Promise<void> {
    const { externalUserId, request } = this.#plan;
    const { isTest, metadata = {} } = request;
    const start = this.#startWith(message);
    const made = await store.beginConversation(this.#context.db, start, { externalUserId, isTest, metadata });
    this.#tookOperation(start, made !== undefined);
  }

  /** The time ran out before the turn began: what the user wrote is kept all the same. */
  async #keep(message: store.UserMessage): Promise<void> {
    const { db } = this.#context;
    const start = { ...this.#lease, now: this.#context.runtime.clock.now(), message };
    if (this.#plan.request.conversationId !== undefined) return store.storeUnanswered(db, start);
    await this.#begin(message);
    const { code, message: why } = fault('AGENT_TIMEOUT');
    await failTurn(db, this.#lease, { code, message: why, ...NOTHING_SPENT, now: start.now });
  }

  /** Begins the conversation, or waits for its turn in it, and then answers. */
  async #inConversation(scope: AgentScope, brought: Brought): Promise<TurnResult> {
    const { kind, request } = this.#plan;
    const message = kind === 'message' ? this.#message(brought) : null;
    const newest = { content: brought.modelText ?? request.content, attachments: brought.attachments };
    // Beside the statement that takes the conversation, which does not depend on it.
    const knowledge = kind === 'message' ? retrieve(scope, newest.content) : Promise.resolve([]);
    knowledge.catch(() => {});
    const answer = (taken: Taken) =>
      answerTurn(this.#context, {
        scope,
        newest,
        knowledge,
        ...taken,
        plan: this.#plan,
        lease: this.#lease,
        listener: this.#listener,
        signal: this.#signal,
        startedAt: this.#startedAt,
      });
    if (request.conversationId === undefined && message) {
      await this.#begin(message);
      return answer({ history: [], waiting: null });
    }
    let release = () => {};
    let taken: Taken;
    try {
      release = await this.#queue();
      taken = await this.#claim(scope, message);
    } catch (error) {
      release();
      if (message && this.#isTimeout(error)) await this.#keep(message);
      throw error;
    }
    try {
      return await answer(taken);
    } finally {
      release();
    }
  }

  /** Waits for earlier turns of the conversation in this process. A limit that is reached is told before, so that nobody waits for it. */
  async #queue(): Promise<() => void> {
    const { turns } = this.#context.runtime;
    const { conversationId } = this.#lease;
    if (turns.isQueued(conversationId)) await this.#takeOperation();
    return turns.queue(conversationId, this.#signal);
  }

  /** Takes the conversation as soon as no other replica's turn holds it. */
  async #claim({ resources }: AgentScope, message: store.UserMessage | null): Promise<Taken> {
    const { db, workspaceId } = this.#context;
    const { conversationId } = this.#lease;
    const bytes = historyBytes(resources.model);
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      this.#signal.throwIfAborted();
      const start = this.#startWith(message);
      const claim = await store.claimConversation(db, start, { historyBytes: bytes });
      this.#tookOperation(start, claim.operationTaken);
      if (claim.conversation) return claim;
      const conversation = await findConversation(db, workspaceId, conversationId);
      if (!conversation) throw fault('CONVERSATION_NOT_FOUND');
      if (conversation.is_ended) throw fault('CONVERSATION_ENDED');
      if (conversation.is_paused) throw fault('CONVERSATION_PAUSED');
      // A decision that came while another turn runs may be left for this one: only the end of that turn shows.
      const mayComeDue = this.#plan.kind === 'continuation' && claim.held;
      if (this.#plan.kind !== 'message' && !mayComeDue) throw new NotDue();
      await abortable(sleep(wait), this.#signal);
    }
  }
}

const NOTHING_SPENT = { usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 }, steps: [] };

/** A turn that nobody asked for and that is not needed any more: another one has done it, or is about to. */
export class NotDue extends Error {}
