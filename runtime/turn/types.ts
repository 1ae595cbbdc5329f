import type { Kysely } from 'kysely';
import type { ConversationRow } from '../../db/queries/conversations/conversations.ts';
import type { MessageRow } from '../../db/queries/conversations/messages.ts';
import type { TurnUsage } from '../../db/queries/turns/finishTurn.ts';
import type { DB } from '../../generated/db.ts';
import type { PendingApproval } from '../agent/paused.ts';
import type { CalledTool } from '../agent/stepLog.ts';
import type { AttachmentInput } from '../files/attachments.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Runtime } from '../runtime.ts';

/** What an end user says to an agent. */
export interface TurnRequest {
  agentId: string;
  content: string;
  attachments: readonly AttachmentInput[];
  /** Absent: a new conversation. */
  conversationId: string | undefined;
  /** These three count for a new conversation only, but for `variables` and `approvals` of the metadata. */
  externalUserId: string | undefined;
  isTest: boolean;
  metadata: Record<string, unknown> | undefined;
  /** Nobody is asked for approvals: the calls are made. For automations. */
  autoApprove?: boolean;
}

/** Where a turn runs. */
export interface TurnContext {
  /** Bound to the workspace. */
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
  /** The reply: several messages when the agent splits its replies. */
  messages: MessageRow[];
  /** The last of them, which carries the usage. */
  last: MessageRow;
  model: ModelDescriptor;
  /** Over all steps and sub-agents. */
  usage: TurnUsage;
  toolCalls: CalledTool[];
  /** Calls that wait for a person. */
  pendingApprovals: PendingApproval[];
  /** Milliseconds to wait before each message, where it is sent through a channel. */
  delaysMs: number[];
  durationMs: number;
}

/** Decisions that a message brings. */
export interface Decisions {
  byId: ReadonlyMap<string, 'approve' | 'reject'>;
  /** The message is this word: it decides all that waited when it came, and withdraws nothing. */
  all: 'approve' | 'reject' | null;
}

/** What is known of a turn before it begins. */
export interface TurnPlan {
  kind: 'message' | 'follow_up' | 'continuation';
  /** Absent `content`: nobody wrote, and `prompt` stands in its place for the model. */
  request: TurnRequest;
  versionNumber: number;
  snapshot: Snapshot;
  /** The agent's own prompt, its variables filled in. */
  instructions: string;
  /** What the message brings for variables. */
  variables: Record<string, unknown>;
  memories: readonly { id: string; fact: string }[];
  revision: number;
  /** Of the conversation, or of the one that begins. */
  externalUserId: string;
  /** The slash command that the message invokes, and what it expands to. */
  command: { id: string; text: string } | null;
  decisions: Decisions;
  /** Follow-ups sent in the conversation so far. */
  followUpsSent: number;
  timeZone: string;
  /** Whether it takes one of the operations that the workspace has in a month. */
  limited: boolean;
}
