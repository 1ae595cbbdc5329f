import { fault } from '../../../core/errors.ts';
import { SecretUnreadable } from '../../../core/secrets.ts';
import {
  type ChannelConnectionRow,
  findChannelConnection,
  selectConnectionsByAccounts,
} from '../../../db/queries/channels/connections.ts';
import { channelAccount } from '../../../domain/channels/connections.ts';
import { noteWebhook } from '../../../domain/channels/health.ts';
import { linkIdentities } from '../../../domain/channels/linkIdentities.ts';
import { receiveEvents } from '../../../domain/channels/receive.ts';
import type { InboundEvent, WebhookAnswer, WebhookRequest } from '../../../integrations/channels/provider.ts';
import { providerOf } from '../../../integrations/channels/providers.ts';
import type { AddressedHook, AddressedRequest, HookReply } from './hook.ts';

/** Meta sends at most 3 MB; a voice message or a file is never in it. */
const MAX_WEBHOOK_BYTES = 5 * 1024 * 1024;
/** A busy number has as many: each message we send comes back as three statuses. */
const MAX_WEBHOOKS_A_MINUTE = 6000;

/** The account of a connection that names none. */
const OWN = '';

const CHANNEL = {
  path: '/channels/{address}',
  kind: 'channel',
  notFound: 'CHANNEL_CONNECTION_NOT_FOUND',
  maxBytes: MAX_WEBHOOK_BYTES,
  requestsPerMinute: MAX_WEBHOOKS_A_MINUTE,
} as const;

/** The webhook of a channel connection, as its provider calls it. Answers 200 when everything that it says is stored, and 503 when it is not. */
export const channelWebhook: AddressedHook = {
  ...CHANNEL,
  name: 'channelWebhook',
  method: 'POST',
  handle: (request) => receive(request, 'POST'),
};

/** The provider asks whether the address is ours. */
export const channelHandshake: AddressedHook = {
  ...CHANNEL,
  name: 'channelHandshake',
  method: 'GET',
  handle: (request) => receive(request, 'GET'),
};

async function receive(request: AddressedRequest, method: WebhookRequest['method']): Promise<HookReply> {
  const { db, workspaceId, targetId, headers, search, body } = request;
  const webhook = { method, headers, query: Object.fromEntries(new URLSearchParams(search)), body };
  const row = await findChannelConnection(db, workspaceId, targetId);
  const answer = row && answerOf(request, row, webhook);
  // The address of a web chat is not one that a provider calls.
  if (!answer) throw fault('CHANNEL_CONNECTION_NOT_FOUND');
  if (answer.kind === 'handshake') return { status: 200, text: answer.text };
  if (answer.kind === 'refused') {
    throw fault(answer.status === 400 ? 'VALIDATION_ERROR' : 'INVALID_SIGNATURE', answer.reason);
  }
  const events = byAccount(answer.events, row);
  const own = row.provider_account ?? OWN;
  await store(request, row, events.get(own) ?? []);
  events.delete(own);
  if (events.size === 0) return { status: 200, text: 'ok' };
  // Meta sends what happens on all numbers of an app to one address. Who may send for one connection may not send for another: the secret
  // of the other one must prove the request, too. Numbers that are none of ours are dropped.
  for (const other of await selectConnectionsByAccounts(db, workspaceId, row.channel_type, [...events.keys()])) {
    const isProven = answerOf(request, other, webhook)?.kind === 'events';
    if (isProven) await store(request, other, events.get(other.provider_account ?? OWN) ?? []);
  }
  return { status: 200, text: 'ok' };
}

/** What the provider of the connection makes of the request; undefined for a type without one. Throws UNAVAILABLE when its secrets are lost. */
function answerOf(
  { runtime }: AddressedRequest,
  row: ChannelConnectionRow,
  webhook: WebhookRequest,
): WebhookAnswer | undefined {
  const provider = providerOf(row.channel_type, runtime.channels);
  if (!provider) return undefined;
  try {
    return provider.receive(channelAccount(runtime.secrets, row), webhook);
  } catch (cause) {
    // The operator can put the key back; until then nobody can tell who sent this.
    if (cause instanceof SecretUnreadable) throw fault('UNAVAILABLE', undefined, { cause });
    throw cause;
  }
}

/** The events by the account that they are of, in their order. Those of no account are of the connection that the address belongs to. */
function byAccount(
  events: readonly { account: string | null; event: InboundEvent }[],
  row: ChannelConnectionRow,
): Map<string, InboundEvent[]> {
  const sorted = new Map<string, InboundEvent[]>();
  for (const { account, event } of events) {
    const owner = account ?? row.provider_account ?? OWN;
    const present = sorted.get(owner);
    if (present) present.push(event);
    else sorted.set(owner, [event]);
  }
  return sorted;
}

/**
 * Stores the events, and queues the work. What the provider said of the account, and who a person is by a status, may get lost: it comes
 * again. The events may not.
 */
async function store(
  { db, jobs, clock, logger }: AddressedRequest,
  row: ChannelConnectionRow,
  events: readonly InboundEvent[],
): Promise<void> {
  const now = clock.now();
  const answers = { ...row, is_active: row.is_active && row.is_configured };
  const { waiting, health } = await receiveEvents(db, answers, events, now);
  for (const person of waiting) void jobs.send('take-inbound', person);
  const place = { workspaceId: row.workspace_id, connectionId: row.id };
  await noteWebhook(db, row, health, now).catch((err: unknown) => {
    logger.warn({ ...place, err }, 'a webhook of a channel was not noted');
  });
  await linkIdentities(db, place, events, now).catch((err: unknown) => {
    logger.warn({ ...place, err }, 'the identities of a person were not linked');
  });
}
