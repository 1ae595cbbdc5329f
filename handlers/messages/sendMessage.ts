import type { components } from '../../generated/api.ts';
import { earlierReply } from '../../runtime/turn/earlierReply.ts';
import { planTurn } from '../../runtime/turn/planTurn.ts';
import { runTurn } from '../../runtime/turn/runTurn.ts';
import type { TurnReply } from '../../runtime/turn/types.ts';
import { conversationBody, messageBody } from '../conversations/bodies.ts';
import type { Context, Handler } from '../handler.ts';
import { pendingApprovalBody } from './turnBodies.ts';
import { turnRequestOf } from './turnRequest.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

const timeoutMs = ({ body }: Context<'sendMessage'>) => (body.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;

export const sendMessage: Handler<'sendMessage'> = {
  patienceMs: timeoutMs,
  async send(context) {
    const { path, body, claim, runtime, reply } = context;
    const answerOf = (turn: TurnReply) => ({ status: 200, body: JSON.stringify(replyBody(turn, runtime)) });
    const keyed = claim && { claim, answerOf };
    const earlier = keyed && (await earlierReply(context, keyed, { timeoutMs: timeoutMs(context) }));
    if (earlier) return reply(200, replyBody(earlier, runtime));
    const turn = await planTurn(context, { ...turnRequestOf(path.agentPublicId, body, timeoutMs(context)), keyed });
    return reply(200, replyBody(await runTurn(turn), runtime));
  },
};

function replyBody(
  { conversation, messages, last, usage, durationMs, pendingApprovals }: TurnReply,
  runtime: Context<'sendMessage'>['runtime'],
): components['schemas']['MessageResult'] {
  return {
    conversationId: conversation.id,
    messages: messages.map(({ content }) => ({ role: 'assistant', content })),
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, totalCost: usage.costUsd },
    conversation: conversationBody(conversation, runtime.clock.now()),
    message: messageBody(last, runtime),
    durationMs,
    pendingApprovals: pendingApprovals.map(pendingApprovalBody),
  };
}
