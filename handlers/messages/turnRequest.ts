import type { components } from '../../generated/api.ts';
import type { TurnRequest } from '../../runtime/turn/types.ts';

/** The turn that the body of `sendMessage` or `streamMessage` asks for. */
export function turnRequestOf(
  agentId: string,
  body: components['schemas']['MessageSend'],
  timeoutMs: number,
): TurnRequest {
  return {
    agentId,
    content: body.content ?? '',
    attachments: body.attachments ?? [],
    // In one spelling: turns of one conversation queue by it.
    conversationId: body.conversationId?.toLowerCase(),
    externalUserId: body.externalUserId,
    isTest: body.isTest ?? false,
    metadata: body.metadata,
    timeoutMs,
  };
}
