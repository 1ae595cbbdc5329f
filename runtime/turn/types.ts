import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import type { MessageRow } from '../../db/queries/conversations/messages.ts';
import type { Payment } from '../../db/queries/credits/reserve.ts';
import type { ApprovalRequest } from '../../db/queries/turns/approvals.ts';
import type { Claim } from '../../db/queries/turns/claimConversation.ts';
import type { TurnUsage } from '../../db/queries/turns/finishTurn.ts';
import type { HeldTurn } from '../../db/queries/turns/leases.ts';
import type { KeptAnswer, KeyClaim } from '../../db/queries/workspaces/idempotencyKeys.ts';
import type { StoredInboundFile } from '../../db/stored/inboundFile.ts';
import type { PendingApproval } from '../agent/paused.ts';
import type { CalledTool, StepLog } from '../agent/stepLog.ts';
import type { RunRecord } from '../agent/storedSteps.ts';
import type { AttachmentInput } from '../files/attachments.ts';
import type { KnowledgeFindings } from '../knowledge/search.ts';
import type { FinishReason } from '../models/call.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { Present } from '../prompt/instructions.ts';
import type { Resources } from '../resources/resources.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import type { ApprovalsBy } from './approvalsBy.ts';
import type { MessageContext } from './messageContext.ts';
import type { ReadMessage } from './readMessage.ts';

/*
 * A turn's state is in seven types. Four of them are here; AgentScope (agent/tool.ts), AgentRun and RunOutcome (agent/agentRun.ts) are
 * those of an agent at work. docs/run-time.md shows who passes which to whom.
 */

/** What a caller asks of an agent. */
export interface TurnRequest {
  agentId: string;
  /** What the end user wrote. Of a turn without a message: what the model reads in its place. */
  content: string;
  attachments: readonly AttachmentInput[];
  /** Undefined: a new conversation. */
  conversationId: string | undefined;
  /** This and the next two count for a new conversation only, except `variables`, `approvals` and `context` of the metadata. */
  externalUserId: string | undefined;
  isTest: boolean;
  metadata: Record<string, unknown> | undefined;
  /** Milliseconds until AGENT_TIMEOUT. */
  timeoutMs: number;
  /** Calls that need an approval are made without one. For automations. */
  autoApprove?: boolean;
  /** Of a message whose ids were chosen before it: that of an execution, which may be tried again. */
  prepared?: PreparedMessage;
  /** The turn answers these, and not `content` and `attachments`. */
  inbound?: InboundTurn;
  /** Of a request with an Idempotency-Key. */
  keyed?: KeyedTurn | undefined;
}

/** A message whose ids were chosen before its turn, so that a second attempt finds what the first one stored. */
export interface PreparedMessage {
  /** Of the conversation that it begins, or has begun. */
  conversationId: string;
  messageId: string;
  /** What the model reads in place of the content; null = the content. */
  modelText: string | null;
  /** An earlier attempt has stored it. */
  isStored: boolean;
}

/** What a person sent over a channel since the last turn. It is stored in the conversation already, and one turn answers all of it. */
export interface InboundTurn {
  /** In the order in which they are read; at least one. */
  messages: readonly InboundMessage[];
  /** Whether the turn ends with `TurnReplaced` when another message comes, as long as none of its tools was called. */
  isReplaceable: boolean;
}

/** A stored message of a person, and the files that came with it. */
export interface InboundMessage {
  id: string;
  content: string;
  /** What the model reads in place of the content, where something must be said of it; null = the content. */
  modelText: string | null;
  files: readonly StoredInboundFile[];
  /** It decides on no call that was asked for later. */
  receivedAt: Date;
}

/** A turn that is run once for each Idempotency-Key. A retry after a failure answers the message that is stored already. */
export interface KeyedTurn {
  claim: KeyClaim;
  /** The answer as it is kept; it is stored with the reply. */
  answerOf(reply: TurnReply): KeptAnswer;
}

/** The callbacks by which a caller follows a running turn. */
export interface TurnEvents {
  /** Called once, when the user's message is stored. */
  onConversation?: (conversationId: string) => void;
  /** Called with each piece of the reply. When it is absent, the model is asked for the whole reply at once. */
  onText?: (delta: string) => void;
}

/** One turn: its request, everything that was known of it before it began, and what it has done since. */
export interface Turn extends WorkspaceRuntime, HeldTurn {
  readonly kind: 'message' | 'follow_up' | 'continuation';
  readonly request: TurnRequest;
  /** Ends the turn when it is aborted; the reason is the error that the caller gets. */
  readonly controller: AbortController;
  /** Of `performance.now()`. */
  readonly startedAt: number;

  /** The published version that answers. */
  readonly versionNumber: number;
  readonly snapshot: Snapshot;
  /** The agent's own prompt, its variables filled in. */
  readonly instructions: string;
  /** Values of variables, of the conversation and of the message. Sub-agents get them too. */
  readonly variables: Record<string, unknown>;
  /** Facts that the agent knows of the end user. */
  readonly memories: readonly { id: string; fact: string }[];
  /** Of the workspace's links, as it was when the turn was planned. */
  readonly revision: number;
  /** Of the conversation, or of the one that begins. */
  readonly externalUserId: string;
  /** Over which the conversation is held. */
  readonly channel: ConversationRow['channel'];
  /** The slash command that the message invokes, and the text that it expands to. */
  readonly command: { id: string; text: string } | null;
  readonly decisions: Decisions;
  /** Who decides on calls that wait for an approval. */
  readonly approvalsBy: ApprovalsBy;
  /** The channel connection over which it is held; null for the API. */
  readonly connectionId: string | null;
  /** Follow-ups sent in the conversation so far. */
  readonly followUpsSent: number;
  /** Of the workspace: an IANA name. */
  readonly timeZone: string;
  /** What its prompts take as the present: all of its agents read the same. */
  readonly present: Present;
  /** What the caller says of the moment of the message; null = nothing. It stands beside that message only. */
  readonly context: MessageContext | null;
  /** Whether the turn counts against a monthly limit of the workspace. */
  readonly isLimited: boolean;
  /** What the turn must be paid from; null = nothing. */
  readonly payment: Payment | null;

  /** Not null: the turn has begun already, in the statement that it was planned with. */
  readonly begun: Beginning | null;
  /** What an earlier attempt at the turn stored, whose process died: it goes on from there. */
  readonly record: RunRecord | undefined;

  /** When the turn was counted against the limit. It is given back when the turn fails. */
  countedAt: Date | undefined;
  /** What the turn did and used, stored on the way. */
  readonly steps: StepLog;
  /** Approvals that the turn asks for; they are stored with its reply. */
  readonly approvals: ApprovalRequest[];
  /** Whether the agent handed the conversation over to a person. It is paused when the turn ends. */
  isHandedOver: boolean;
  /** Components that are shown with the reply. */
  ui: Record<string, unknown> | null;
  /** Calls of models that the turn may still make, over all its agents. */
  modelCallsLeft: number;
}

/** What a turn has when it holds its conversation. */
export interface Beginning extends Pick<Claim, 'history' | 'waiting'> {
  /** Of the conversation, when the turn took it. */
  messageCount: number;
  resources: Resources;
  message: ReadMessage;
  /** The passages for the prompt; the search may still run. */
  knowledge: Promise<KnowledgeFindings>;
  /** Lets the next turn of the conversation in this process begin. */
  release: () => void;
}

/** A reply, as it is stored, and what it took. */
export interface TurnReply {
  conversation: ConversationRow;
  /** Several when the agent splits its replies. */
  messages: MessageRow[];
  /** The last of them. It carries the usage. */
  last: MessageRow;
  model: Pick<ModelDescriptor, 'modelId'>;
  /** Over all steps and sub-agents. */
  usage: TurnUsage;
  /** Why the last answer of the model ended; null when the model was not called. */
  finishReason: FinishReason | null;
  toolCalls: CalledTool[];
  /** Calls of the conversation that wait for a person. */
  pendingApprovals: PendingApproval[];
  /** Milliseconds to wait before each message, where it is sent through a channel. */
  delaysMs: number[];
  durationMs: number;
}

/** What a message decides about calls that wait for an approval. */
export interface Decisions {
  byId: ReadonlyMap<string, 'approve' | 'reject'>;
  /** The message is this word alone: it decides all calls that waited when it arrived, and withdraws none. */
  all: 'approve' | 'reject' | null;
}
