import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Logger } from 'pino';
import { isUuid } from '../core/ids.ts';
import type { DB } from '../generated/db.ts';
import type { Database } from './connect.ts';

/** Something that one process announces to every running service through NOTIFY. */
export interface DatabaseEvent<Payload> {
  channel: string;
  /** Announces the event; within a transaction it is sent when that commits. */
  notify(db: Kysely<DB>, payload: Payload): Promise<void>;
  /** Reads the text of a notification. Throws when it has another shape: every login of the database may write to a channel. */
  parse(text: string): Payload;
}

/** How payloads of an event are written and read. */
interface PayloadFormat<Payload> {
  write(payload: Payload): string;
  read(text: string): Payload;
}

function defineEvent<Payload>(channel: string, { write, read }: PayloadFormat<Payload>): DatabaseEvent<Payload> {
  return {
    channel,
    notify: async (db, payload) => void (await sql`select pg_notify(${channel}, ${write(payload)})`.execute(db)),
    parse: read,
  };
}

function uuid(value: unknown, name: string): string {
  if (typeof value !== 'string' || !isUuid(value)) throw new Error(`The payload has no UUID as ${name}.`);
  return value;
}

function readConversation(text: string): { workspaceId: string; conversationId: string } {
  const [workspaceId, conversationId] = text.split('/');
  return { workspaceId: uuid(workspaceId, 'workspaceId'), conversationId: uuid(conversationId, 'conversationId') };
}

/** A conversation in which an operator has decided on a call. */
export interface ApprovalDecision {
  workspaceId: string;
  conversationId: string;
}

/** An operator has decided on a call that was waiting for approval. */
export const approvalDecided = defineEvent<ApprovalDecision>('guildhall_approval_decided', {
  write: ({ workspaceId, conversationId }) => JSON.stringify({ workspaceId, conversationId }),
  read(text) {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) throw new Error('The payload is no object.');
    const { workspaceId, conversationId } = value as Partial<Record<keyof ApprovalDecision, unknown>>;
    return {
      workspaceId: uuid(workspaceId, 'workspaceId'),
      conversationId: uuid(conversationId, 'conversationId'),
    };
  },
});

/** A conversation that somebody may be looking at. */
export interface ChangedChat {
  workspaceId: string;
  conversationId: string;
}

/** A reply in a conversation of the chat page has begun or ended, or something else of it has changed. */
export const chatChanged = defineEvent<ChangedChat>('guildhall_chat_changed', {
  write: ({ workspaceId, conversationId }) => `${workspaceId}/${conversationId}`,
  read: readConversation,
});

/** A conversation that got a message of a person while a turn ran in it. */
export interface InboundStored {
  workspaceId: string;
  conversationId: string;
}

/** A person wrote over a channel while a turn ran: the turn may be given up for one that answers both. */
export const inboundStored = defineEvent<InboundStored>('guildhall_inbound_stored', {
  write: ({ workspaceId, conversationId }) => `${workspaceId}/${conversationId}`,
  read: readConversation,
});

/** A key that must not be accepted any more. */
export interface RevokedApiKey {
  apiKeyId: string;
}

/** An API key was revoked. */
export const apiKeyRevoked = defineEvent<RevokedApiKey>('api_key_revoked', {
  write: ({ apiKeyId }) => apiKeyId,
  read: (text) => ({ apiKeyId: uuid(text, 'the whole text') }),
});

/** A key that is accepted from now on. */
export interface AddedApiKey {
  apiKeyId: string;
}

/** An API key was added: whoever has found it unknown looks again. */
export const apiKeyAdded = defineEvent<AddedApiKey>('guildhall_api_key_added', {
  write: ({ apiKeyId }) => apiKeyId,
  read: (text) => ({ apiKeyId: uuid(text, 'the whole text') }),
});

/** A slot of an automation that was planned. */
export interface PlannedSlot {
  dueAt: Date;
}

/** The next slot of an automation was planned, or planned anew: processes that sleep until a later one wake up in time. */
export const slotPlanned = defineEvent<PlannedSlot>('guildhall_slot_planned', {
  write: ({ dueAt }) => dueAt.toISOString(),
  read(text) {
    const dueAt = new Date(text);
    if (text.length > 30 || Number.isNaN(dueAt.getTime())) throw new Error('The payload is no time.');
    return { dueAt };
  },
});

/** An execution that an operator has dispatched. */
export interface DispatchedExecution {
  workspaceId: string;
  executionId: string;
}

/** An operator has dispatched an execution: a service queues it at once. */
export const executionDispatched = defineEvent<DispatchedExecution>('guildhall_execution_dispatched', {
  write: ({ workspaceId, executionId }) => `${workspaceId}/${executionId}`,
  read(text) {
    const [workspaceId, executionId] = text.split('/');
    return { workspaceId: uuid(workspaceId, 'workspaceId'), executionId: uuid(executionId, 'executionId') };
  },
});

/** A mail that is to be sent. */
export interface QueuedMail {
  workspaceId: string;
  mailId: string;
}

/** A mail was stored: a service queues its job at once. */
export const mailQueued = defineEvent<QueuedMail>('guildhall_mail_queued', {
  write: ({ workspaceId, mailId }) => `${workspaceId}/${mailId}`,
  read(text) {
    const [workspaceId, mailId] = text.split('/');
    return { workspaceId: uuid(workspaceId, 'workspaceId'), mailId: uuid(mailId, 'mailId') };
  },
});

/** A queue of background jobs in which one may be due. */
export interface QueuedJob {
  queue: string;
}

/**
 * A job was queued, or given back by a process that stops. pg-boss sends it within the statement that queues the job, on the channel that
 * it derives from the name of its schema.
 */
export const jobQueued = defineEvent<QueuedJob>(
  `pgboss_${createHash('sha224').update('pgboss').digest('hex').slice(0, 24)}`,
  {
    write: ({ queue }) => queue,
    read(text) {
      if (!/^[\w.-]{1,100}$/.test(text)) throw new Error('The payload is no name of a queue.');
      return { queue: text };
    },
  },
);

/** What a subscriber does with an event. */
export interface EventHandlers<Payload> {
  received(payload: Payload): void;
  /** The connection was lost for a time, so events may have been missed. */
  missed(): void;
  /** Gets a line for each malformed notification, without its text. */
  logger: Pick<Logger, 'warn'>;
}

/**
 * Subscribes to an event. A malformed notification is logged and ignored. Settles when the database listens.
 * @returns ends the subscription
 */
export function subscribe<Payload>(
  database: Pick<Database, 'listen'>,
  event: DatabaseEvent<Payload>,
  { received, missed, logger }: EventHandlers<Payload>,
): Promise<() => void> {
  const handle = (text: string) => {
    let payload: Payload;
    try {
      payload = event.parse(text);
    } catch {
      logger.warn({ channel: event.channel, bytes: Buffer.byteLength(text) }, 'a malformed notification was ignored');
      return;
    }
    received(payload);
  };
  return database.listen(event.channel, handle, missed);
}
