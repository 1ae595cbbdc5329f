import { cutText, toStorable } from '../../core/text.ts';
import { type ChannelConnectionRow, findChannelConnection } from '../../db/queries/channels/connections.ts';
import {
  type DeliveryRow,
  hasSentOfReply,
  takeNextDelivery,
  type Unsent,
  updateSent,
  updateUnsent,
} from '../../db/queries/channels/deliveries.ts';
import { selectIdentities } from '../../db/queries/channels/endUsers.ts';
import { OUTCOME_UNKNOWN } from '../../db/queries/channels/receipts.ts';
import { type ConversationRow, findConversation } from '../../db/queries/conversations/conversations.ts';
import {
  type ChannelProvider,
  type OutboundMessage,
  SendFailed,
  type SendOutcome,
} from '../../integrations/channels/provider.ts';
import { providerOf } from '../../integrations/channels/providers.ts';
import { publicFileUrl } from '../../runtime/files/publicFiles.ts';
import type { WorkspaceContext } from '../context.ts';
import { channelAccount } from './connections.ts';
import { noteSendOutcome } from './health.ts';

/** The provider has this long to take a message. */
const SEND_MS = 30_000;
/** Longer than sending takes: after it the process that sent must be dead. */
const LEASE_MS = 90_000;
/** Milliseconds after each failed attempt. After the last one the message is given up. */
const BACK_OFF_MS = [2_000, 10_000, 60_000, 5 * 60_000, 20 * 60_000];
/** WhatsApp takes free text for so long after the person has written. */
const WINDOW_MS = 24 * 60 * 60 * 1000;
/** One run sends so many, and leaves the rest to the next one: others wait. */
const MAX_RUN = 20;
const MAX_CODE = 100;
const MAX_REASON = 1_000;

/**
 * Sends what is due in a conversation, in its order, each message once by its id. What may pass is tried again; what the provider would
 * never take is failed, and the next message goes out. It can be run again at any time, and by several processes at once. Returns in how
 * many milliseconds the next message is due; undefined when none is left. Throws without a database.
 */
export async function deliver(
  context: WorkspaceContext,
  conversationId: string,
  ending: AbortSignal,
): Promise<number | undefined> {
  const { db, workspaceId, clock } = context;
  for (let sent = 0; sent < MAX_RUN; sent += 1) {
    if (ending.aborted) return 0;
    const now = clock.now();
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    const next = await takeNextDelivery(db, workspaceId, conversationId, { now, leaseUntil });
    if (next === null) return undefined;
    if ('dueAt' in next) return Math.max(0, next.dueAt.getTime() - now.getTime());
    await deliverOne(context, next.delivery);
  }
  return 0;
}

/** Everything that a delivery needs to be sent. */
interface Way {
  connection: ChannelConnectionRow;
  provider: ChannelProvider;
  conversation: ConversationRow;
}

async function deliverOne(context: WorkspaceContext, delivery: DeliveryRow): Promise<void> {
  const { db, clock } = context;
  const way = await wayOf(context, delivery);
  if ('status' in way) return updateUnsent(db, delivery, way);
  const message = await messageOf(context, delivery, way);
  if ('status' in message) return updateUnsent(db, delivery, message);
  const { connection, provider } = way;
  const account = channelAccount(context.runtime.secrets, connection);
  let outcome: SendOutcome;
  try {
    outcome = await provider.send(account, message, AbortSignal.timeout(SEND_MS));
  } catch (error) {
    return updateUnsent(db, delivery, afterFailure(context, delivery, error));
  }
  // The most important first: what was sent must not be sent again.
  if (outcome.kind === 'sent') await updateSent(db, delivery, outcome.providerMessageId, clock.now());
  else await updateUnsent(db, delivery, { status: 'failed', ...bounded(outcome.code, outcome.message) });
  await noteSendOutcome(db, connection, outcome, clock.now());
}

async function wayOf(
  { db, workspaceId, runtime }: WorkspaceContext,
  { connection_id, conversation_id }: DeliveryRow,
): Promise<Way | Unsent> {
  const connection = await findChannelConnection(db, workspaceId, connection_id);
  if (!connection) return dropped('CONNECTION_DELETED', 'The connection was deleted before the message was sent.');
  if (!connection.is_active) return dropped('CONNECTION_INACTIVE', 'The connection is not active.');
  const provider = providerOf(connection.channel_type, runtime.channels);
  if (!provider) return dropped('NO_PROVIDER', 'This channel sends no messages by itself.');
  if (!connection.is_configured) return dropped('NOT_CONFIGURED', 'The connection is not configured.');
  const conversation = await findConversation(db, workspaceId, conversation_id);
  if (!conversation?.end_user_id) return dropped('CONVERSATION_NOT_FOUND', 'The conversation was deleted.');
  return { connection, provider, conversation };
}

/** The message as the provider gets it: the template of the connection where free text is not allowed any more. */
async function messageOf(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  delivery: DeliveryRow,
  { connection, conversation }: Way,
): Promise<OutboundMessage | Unsent> {
  const recipient = await selectIdentities(db, workspaceId, conversation.end_user_id ?? '');
  const common = { deliveryId: delivery.id, recipient, typingMs: delivery.typing_ms };
  if (connection.channel_type === 'whatsapp' && !isInWindow(conversation, clock.now())) {
    const { templateName: name, templateLanguage } = connection.config;
    if (typeof name !== 'string' || name === '') {
      return dropped('OUTSIDE_WINDOW', 'The person has not written for 24 hours, and the connection has no template.');
    }
    if (await hasSentOfReply(db, delivery)) {
      return dropped(
        'OUTSIDE_WINDOW',
        'The person has not written for 24 hours. A template was sent in place of the reply.',
      );
    }
    const language = typeof templateLanguage === 'string' ? templateLanguage : 'en';
    return { ...common, content: { kind: 'template', name, language, parameters: [] } };
  }
  const { content } = delivery;
  if (content.kind === 'text') return { ...common, content };
  const url = publicFileUrl(runtime.publicUrl, content.key);
  return { ...common, content: { kind: 'audio', url, mediaType: content.mediaType } };
}

function isInWindow({ last_inbound_at: at }: ConversationRow, now: Date): boolean {
  return at !== null && now.getTime() - at.getTime() < WINDOW_MS;
}

/** Whether a message that the provider did not take is sent again. One that it may have taken is not: the person would get it twice. */
function afterFailure(
  { runtime, workspaceId, clock }: WorkspaceContext,
  { attempts }: DeliveryRow,
  error: unknown,
): Unsent {
  const message = Error.isError(error) ? error.message : String(error);
  if (!(error instanceof SendFailed))
    runtime.logger?.warn({ workspaceId, err: error }, 'a message was not sent over a channel');
  const isUnconfirmed = error instanceof SendFailed ? error.isUnconfirmed : true;
  if (isUnconfirmed) return { status: 'failed', ...bounded(OUTCOME_UNKNOWN, message) };
  const waitMs = BACK_OFF_MS[attempts - 1];
  if (waitMs === undefined) return { status: 'failed', ...bounded('SEND_FAILED', message) };
  return { status: 'queued', ...bounded('SEND_FAILED', message), dueAt: new Date(clock.now().getTime() + waitMs) };
}

function dropped(code: string, message: string): Unsent {
  return { status: 'dropped', code, message };
}

function bounded(code: string, message: string): { code: string; message: string } {
  return { code: cutText(toStorable(code), MAX_CODE), message: cutText(toStorable(message), MAX_REASON) };
}
