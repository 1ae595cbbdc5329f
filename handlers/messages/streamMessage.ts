import type { components } from '../../generated/api.ts';
import { planTurn } from '../../runtime/turn/planTurn.ts';
import { runTurn } from '../../runtime/turn/runTurn.ts';
import type { Handler } from '../handler.ts';
import { pendingApprovalBody } from './turnBodies.ts';
import { turnRequestOf } from './turnRequest.ts';

type Schemas = components['schemas'];

/** A stream takes no notice of `timeoutSeconds`, but no turn may run for ever. */
const TIMEOUT_MS = 300_000;

export const streamMessage: Handler<'streamMessage'> = {
  async send(context) {
    const { path, body, openEventStream } = context;
    const turn = await planTurn(context, turnRequestOf(path.agentPublicId, body, TIMEOUT_MS));
    const stream = openEventStream();
    try {
      const { last, model, usage, durationMs, toolCalls, pendingApprovals } = await runTurn(turn, {
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
  },
};
