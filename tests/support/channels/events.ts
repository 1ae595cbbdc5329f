import { randomUUID } from 'node:crypto';
import { newId } from '../../../core/ids.ts';
import type { ChannelConnectionRow } from '../../../db/queries/channels/connections.ts';
import { insertChannelConnection } from '../../../db/queries/channels/connections.ts';
import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import type { SeededWorkspace } from '../db/database.ts';

type MessageEvent = Extract<InboundEvent, { kind: 'message' }>;
type StatusEvent = Extract<InboundEvent, { kind: 'status' }>;

/** Stores a configured connection of an agent. */
export function addConnection(
  { db, workspaceId }: SeededWorkspace,
  agentId: string,
  change: Partial<Parameters<typeof insertChannelConnection>[1]> = {},
): Promise<ChannelConnectionRow> {
  return insertChannelConnection(db, {
    workspace_id: workspaceId,
    id: newId(),
    agent_id: agentId,
    channel_type: 'z_api',
    is_configured: true,
    ...change,
  });
}

/** A message of a person. */
export function messageEvent(person: string, change: Partial<MessageEvent> = {}): MessageEvent {
  return {
    kind: 'message',
    providerMessageId: randomUUID(),
    identities: [{ kind: 'phone', value: person }],
    profileName: null,
    text: 'Hello.',
    media: [],
    sentAt: new Date(0).toISOString(),
    ...change,
  };
}

/** What became of a message that we sent. */
export function statusEvent(
  providerMessageId: string,
  status: StatusEvent['status'],
  change: Partial<StatusEvent> = {},
): StatusEvent {
  return {
    kind: 'status',
    providerMessageId,
    deliveryId: null,
    status,
    errorCode: null,
    errorMessage: null,
    at: new Date(0).toISOString(),
    ...change,
  };
}
