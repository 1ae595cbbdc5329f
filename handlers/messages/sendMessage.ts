import { planTurn } from '../../runtime/turn/planTurn.ts';
import { runTurn } from '../../runtime/turn/runTurn.ts';
import { conversationBody, messageBody } from '../conversations/bodies.ts';
import type { Handler } from '../handler.ts';
import { pendingApprovalBody } from './turnBodies.ts';
import { turnRequestOf } from './turnRequest.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

export const sendMessage: Handler<'sendMessage'> = {
  async send(context) {
    const { path, body, runtime, reply } = context;
    const timeoutMs = (body.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
    const turn = await planTurn(context, turnRequestOf(path.agentPublicId, body, timeoutMs));
    const { conversation, messages, last, usage, durationMs, pendingApprovals } = await runTurn(turn);
    return reply(200, {
      conversationId: conversation.id,
      messages: messages.map(({ content }) => ({ role: 'assistant', content })),
      usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, totalCost: usage.costUsd },
      conversation: conversationBody(conversation),
      message: messageBody(last, runtime),
      durationMs,
      pendingApprovals: pendingApprovals.map(pendingApprovalBody),
    });
  },
};
