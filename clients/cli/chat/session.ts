import type { components } from '../../../generated/api.ts';
import type { Guildhall, StreamEvent } from '../../sdk/index.ts';
import { exitCodeOf, Failure, hintFor } from '../failure.ts';
import type { Attachment } from './attachments.ts';

export type PendingApproval = components['schemas']['PendingApproval'];
export type Decision = components['schemas']['ApprovalDecision'];
type DebugInfo = Extract<StreamEvent, { event: 'debug-info' }>['data'];

/** What a chat is begun with. */
export interface ChatStart {
  agentId: string;
  conversationId?: string | undefined;
  externalUserId?: string | undefined;
  isTest: boolean;
  /** Values of the agent's variables. */
  variables: Record<string, unknown>;
}

/** What is said in one turn. */
export interface Said {
  content: string;
  attachments?: readonly Attachment[];
  /** Decisions on calls that wait, by the id of the approval. */
  approvals?: Record<string, Decision>;
}

/** Hears of a turn while it runs. */
export interface Listener {
  text(piece: string): Promise<void> | void;
  signal?: AbortSignal;
}

/** One conversation with an agent: the first message begins it, the next ones continue it. */
export class ChatSession {
  readonly #api: Guildhall;
  readonly #start: ChatStart;
  /** Undefined until the service has said which conversation it is. */
  conversationId: string | undefined;
  /** Calls that wait for a decision, as the newest turn told. */
  pending: readonly PendingApproval[] = [];

  constructor(api: Guildhall, start: ChatStart) {
    this.#api = api;
    this.#start = start;
    this.conversationId = start.conversationId;
  }

  /** Leaves this conversation: the next message begins another. */
  reset(): void {
    this.conversationId = undefined;
    this.pending = [];
  }

  /**
   * Sends a message and passes the reply on as it comes. Answers what the turn used and did.
   * @throws Failure for a turn that failed after its reply had begun; what `api.events` throws; the reason of `signal`
   */
  async send(said: Said, listener: Listener): Promise<DebugInfo> {
    for await (const event of this.#api.events({ ...this.#request(said), signal: listener.signal })) {
      if (event.event === 'conversation-id') this.conversationId = event.data.conversationId;
      if (event.event === 'text-delta') await listener.text(event.data.text);
      if (event.event === 'error') throw failureOf(event.data);
      if (event.event === 'debug-info') {
        this.pending = event.data.pendingApprovals;
        return event.data;
      }
    }
    throw new Error('The stream ended without its last event.');
  }

  #request({ content, attachments = [], approvals }: Said) {
    const { agentId, externalUserId, isTest, variables } = this.#start;
    const begins = this.conversationId === undefined;
    const metadata = {
      // Those of the first message hold for the whole conversation. A conversation that is continued gets them with each message.
      ...(Object.keys(variables).length > 0 && (begins || this.#start.conversationId !== undefined) && { variables }),
      ...(approvals && { approvals }),
    };
    return {
      path: { agentPublicId: agentId },
      body: {
        content,
        ...(attachments.length > 0 && { attachments: attachments.map(({ sent }) => sent) }),
        ...(this.conversationId !== undefined && { conversationId: this.conversationId }),
        ...(begins && externalUserId !== undefined && { externalUserId }),
        ...(begins && isTest && { isTest }),
        ...(Object.keys(metadata).length > 0 && { metadata }),
      },
    };
  }
}

function failureOf({ code, message, status, requestId }: Extract<StreamEvent, { event: 'error' }>['data']): Failure {
  return new Failure(code, exitCodeOf(status), message, { status, requestId, hint: hintFor(status, code) });
}
