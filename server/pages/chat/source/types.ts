/** What the server puts into the page: see server/routes/chat/page.ts. */
export interface PageConfig {
  connection: string;
  title: string;
  welcomeMessage: string;
  primaryColor: string;
  /** Origins whose pages may embed the chat. */
  origins: string[];
}

/** A file of a message: see server/routes/chat/conversation.ts, as for all that follows. */
export interface ChatFile {
  id: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
}

/** A stored message. */
export interface ChatMessage {
  seq: number;
  id: string;
  role: 'user' | 'assistant';
  text: string;
  ui: UiNode | null;
  files: ChatFile[];
  sentAs: string | null;
  isByPerson: boolean;
  audio: string | null;
  sentAt: string;
}

/** A call that waits for a decision. */
export interface Approval {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
}

/** How the conversation stands. */
export interface PageState {
  hasBegun: boolean;
  isPaused: boolean;
  isEnded: boolean;
  failure: 'limit' | 'other' | null;
  mayDecide: boolean;
  waitingCalls: number;
  approvals: Approval[];
}

/** A component of generative UI: the document's schema `MessageUi`. */
export interface UiNode {
  type: string;
  [field: string]: unknown;
}

/** A message that this browser sends, until it is seen among the stored ones. */
export interface Outgoing {
  id: string;
  text: string;
  files: ChatFile[];
  at: number;
  /** Whether the server has it. */
  isStored: boolean;
  /** Why it could not be sent, in the reader's language; absent while it may still be. */
  problem?: string;
}
