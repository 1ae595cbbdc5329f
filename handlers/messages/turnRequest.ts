import type { components } from '../../generated/api.ts';
import type { TurnRequest } from '../../runtime/turn/types.ts';

/** What the body of `sendMessage` and `streamMessage` asks for. */
export function turnRequestOf(agentId: string, body: components['schemas']['MessageSend']): TurnRequest {
  return {
    agentId,
    content: body.content ?? '',
    attachments: body.attachments ?? [],
    // One spelling, since turns queue by it.
    conversationId: body.conversationId?.toLowerCase(),
    externalUserId: body.externalUserId,
    isTest: body.isTest ?? false,
    metadata: body.metadata,
  };
}
