import type { components } from '../../generated/api.ts';
import { prepareTurn } from '../../runtime/turn/prepareTurn.ts';
import type { Handler } from '../handler.ts';
import { pendingApprovalBody } from './turnBodies.ts';
import { turnRequestOf } from './turnRequest.ts';

type Schemas = components['schemas'];

/** `timeoutSeconds` does not count here, but no turn may run for ever. */
const LONGEST_TURN_MS = 300_000;

export const streamMessage: Handler<'streamMessage'> = async (context) => {
  const { path, body, openEventStream } = context;
  const turn = await prepareTurn(context, turnRequestOf(path.agentPublicId, body));
  const stream = openEventStream();
  try {
    const { last, model, usage, durationMs, toolCalls, pendingApprovals } = await turn.run({
      timeoutMs: LONGEST_TURN_MS,
      onConversation: (conversationId) =>
        stream.send('conversation-id', { conversationId } satisfies Schemas['StreamConversationId']),
      onText: (text) => stream.send('text-delta', { text } satisfies Schemas['StreamTextDelta']),
    });
    stream.send('debug-info', {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      totalTokens: usage.inputTokens + usage.outputTokens,
      totalCost: usage.costUsd,
      model: model.modelId,
      durationMs,
      messagePublicId: last.id,
      toolCalls,
      pendingApprovals: pendingApprovals.map(pendingApprovalBody),
    } satisfies Schemas['StreamDebugInfo']);
    return stream.end();
  } catch (error) {
    return stream.fail(error);
  }
};
