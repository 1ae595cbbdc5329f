/*
 * What every messaging provider is to the service: it turns what the provider's webhook says into events, and sends messages. Nothing
 * outside of this folder knows a provider's payloads.
 */

/** By what a provider names a person. `bsuid` is WhatsApp's business-scoped user id, `lid` an address of Z-API that hides the number. */
export interface ChannelIdentity {
  kind: 'wa_id' | 'bsuid' | 'lid' | 'phone' | 'visitor';
  value: string;
}

/** A file that a person sent, not fetched yet, or already here. */
export interface InboundMedia {
  /** What the provider fetches it by: its id, or its address. */
  reference: string;
  mediaType: string | null;
  filename: string | null;
}

/** Something that a provider's webhook says, in our words. It is stored as JSON, so times are ISO 8601. */
export type InboundEvent =
  | {
      kind: 'message';
      providerMessageId: string;
      /** Everything by which the payload names the person; at least one. */
      identities: ChannelIdentity[];
      profileName: string | null;
      text: string;
      media: InboundMedia[];
      sentAt: string;
      /** The signed-in user of a client who wrote it. Only our own chat page says so, never a provider. */
      clientUserId?: string;
    }
  /**
   * A person wrote on the phone itself, in place of the agent. The identities are those of the other side. With Z-API the message may
   * be one of ours, when its webhook is faster than the answer to the send: compare `providerMessageId` with the deliveries.
   */
  | { kind: 'echo'; providerMessageId: string; identities: ChannelIdentity[]; text: string; sentAt: string }
  /** It matters for the history and starts no turn: an edit, a deletion, a reaction. `note` says what happened, in English. */
  | { kind: 'note'; providerMessageId: string; identities: ChannelIdentity[]; note: string; sentAt: string }
  /** What became of a message that we sent. */
  | {
      kind: 'status';
      providerMessageId: string;
      /** Our own id, where the provider hands it back. */
      deliveryId: string | null;
      status: 'sent' | 'delivered' | 'read' | 'failed';
      /** Everything by which the payload names the person who got it, where that is more than one identity. They are one person's. */
      identities?: ChannelIdentity[];
      errorCode: string | null;
      errorMessage: string | null;
      at: string;
    }
  /** What is wrong with the account; null when it works again. */
  | { kind: 'health'; problem: ChannelProblem | null }
  /** Named and dropped: groups, newsletters, calls, kinds that nobody knows yet. */
  | {
      kind: 'ignored';
      /** Null where the same id may come again with a message. */
      providerMessageId: string | null;
      reason: string;
    };

/** What can be wrong with a connection's account at the provider. */
export type ChannelProblemCode = 'TOKEN_EXPIRED' | 'NUMBER_BANNED' | 'DISCONNECTED' | 'NO_WEBHOOK' | 'PROVIDER_ERROR';

/** What is wrong with a connection's account. */
export interface ChannelProblem {
  code: ChannelProblemCode;
  /** For people, in English. */
  message: string;
}

/** A connection as a provider needs it; credentials are in the clear. */
export interface ChannelAccount {
  workspaceId: string;
  connectionId: string;
  config: Readonly<Record<string, unknown>>;
  credentials: Readonly<Record<string, unknown>>;
}

/** A message to a person. */
export interface OutboundMessage {
  /** Our id. No provider keeps what has the same id from being sent twice; WhatsApp hands it back with each status. */
  deliveryId: string;
  /** Everything by which the person is known, the one seen last first. */
  recipient: readonly ChannelIdentity[];
  content:
    | { kind: 'text'; text: string }
    | { kind: 'audio'; url: string; mediaType: string }
    /** Outside of WhatsApp's 24 hours: the template of the connection. */
    | { kind: 'template'; name: string; language: string; parameters: string[] };
  /** How long the person sees that somebody writes, for a provider that shows it only with the message (Z-API: 1 to 15 s). */
  typingMs?: number;
}

/**
 * A message could not be sent now; the text holds no credential. `isUnconfirmed`: the request left and no answer came, so the message
 * may have been sent. Nobody can tell, unless a status with our id comes (WhatsApp): sending again may send twice.
 */
export class SendFailed extends Error {
  override readonly name = 'SendFailed';
  readonly isUnconfirmed: boolean;

  constructor(message: string, isUnconfirmed = false) {
    super(message);
    this.isUnconfirmed = isUnconfirmed;
  }
}

/** How sending ended. What may pass is thrown as `SendFailed`. */
export type SendOutcome =
  | { kind: 'sent'; providerMessageId: string }
  /** It would never be taken: the recipient, the content or the account is wrong. */
  | { kind: 'refused'; code: string; message: string; problem?: ChannelProblemCode };

/** A request to the webhook of a connection, with the body as it came. */
export interface WebhookRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string | string[] | undefined>>;
  query: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

/** The answer to a webhook request. */
export type WebhookAnswer =
  /** The sender proved who it is. `events` may belong to another account of it, where `account` says so. */
  | { kind: 'events'; events: { account: string | null; event: InboundEvent }[] }
  /** The provider asks whether the address is ours; `text` is what it wants to read. */
  | { kind: 'handshake'; text: string }
  /** It did not prove who it is, or the body is nothing that the provider sends. */
  | { kind: 'refused'; status: 400 | 401 | 403; reason: string };

/** A messaging provider. */
export interface ChannelProvider {
  /** The longest text of one message, in characters; a longer one is refused or hard to read. */
  readonly maxTextCharacters: number;
  /** Checks the signature over the raw body first, and then reads the body. Pure, and never throws. */
  receive(account: ChannelAccount, request: WebhookRequest): WebhookAnswer;
  /** Sends one message. Throws SendFailed for what may pass, or the signal's reason. */
  send(account: ChannelAccount, message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome>;
  /** Shows that an answer is being written, where the provider has it. `inReplyTo` is the provider's id of the message. Never rejects. */
  showTyping?(
    account: ChannelAccount,
    to: { recipient: readonly ChannelIdentity[]; inReplyTo: string | null },
    signal: AbortSignal,
  ): Promise<void>;
  /** Fetches a file at receipt, 20 MiB at most. Throws when it cannot be had. */
  fetchMedia(
    account: ChannelAccount,
    media: InboundMedia,
    signal: AbortSignal,
  ): Promise<{ bytes: Buffer; mediaType: string | null }>;
  /** Asks the provider how the account is, where it can be asked; null when all is well. Throws when it cannot be asked. */
  checkHealth?(account: ChannelAccount, signal: AbortSignal): Promise<ChannelProblem | null>;
}
