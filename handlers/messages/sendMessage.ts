import { prepareTurn } from '../../runtime/prepareTurn.ts';
import { conversationBody, messageBody } from '../conversations/bodies.ts';
import type { Handler } from '../handler.ts';
import { turnRequestOf } from './turnRequest.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

export const sendMessage: Handler<'sendMessage'> = async (context) => {
  const { path, body, reply } = context;
  const turn = await prepareTurn(context, turnRequestOf(path.agentPublicId, body));
  const timeoutMs = (body.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const { conversation, message, answer, durationMs } = await turn.run({ timeoutMs });
  return reply(200, {
    conversationId: conversation.id,
    messages: [{ role: 'assistant', content: message.content }],
    usage: {
      inputTokens: answer.usage.inputTokens,
      outputTokens: answer.usage.outputTokens,
      totalCost: answer.costUsd,
    },
    conversation: conversationBody(conversation),
    message: messageBody(message),
    durationMs,
    pendingApprovals: [],
  });
};
