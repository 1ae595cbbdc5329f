import { earlierReply } from '../../runtime/turn/earlierReply.ts';
import { planTurn } from '../../runtime/turn/planTurn.ts';
import { runTurn } from '../../runtime/turn/runTurn.ts';
import type { TurnReply } from '../../runtime/turn/types.ts';
import type { Handler, StreamEvent } from '../handler.ts';
import { pendingApprovalBody } from './turnBodies.ts';
import { turnRequestOf } from './turnRequest.ts';

/** A stream takes no notice of `timeoutSeconds`, but no turn may run for ever. */
const TIMEOUT_MS = 300_000;

export const streamMessage: Handler<'streamMessage'> = {
  patienceMs: () => TIMEOUT_MS,
  beginning: (conversationId) => beginningOf(conversationId),
  async send(context) {
    const { path, body, claim, openEventStream } = context;
    let streamed = '';
    const answerOf = (turn: TurnReply) => ({ status: 200, body: JSON.stringify({ events: eventsOf(turn, streamed) }) });
    const keyed = claim && { claim, answerOf };
    const onText = (text: string) => {
      streamed = text;
    };
    const earlier = keyed && (await earlierReply(context, keyed, { timeoutMs: TIMEOUT_MS, onText }));
    if (earlier) {
      const stream = openEventStream();
      for (const event of eventsOf(earlier, streamed)) stream.send(...event);
      return stream.end();
    }
    const turn = await planTurn(context, { ...turnRequestOf(path.agentPublicId, body, TIMEOUT_MS), keyed });
    const stream = openEventStream();
    try {
      const reply = await runTurn(turn, {
        onConversation: (id) => stream.send(...beginningOf(id)),
        onText: (text) => {
          if (keyed) streamed += text;
          stream.send(...textOf(text));
        },
      });
      stream.send(...endOf(reply));
      return stream.end();
    } catch (error) {
      return stream.fail(error);
    }
  },
};

const beginningOf = (conversationId: string): StreamEvent => ['conversation-id', { conversationId }];

const textOf = (text: string): StreamEvent => ['text-delta', { text }];

function endOf({ last, model, usage, finishReason, durationMs, toolCalls, pendingApprovals }: TurnReply): StreamEvent {
  return [
    'debug-info',
    {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      totalTokens: usage.inputTokens + usage.outputTokens,
      totalCost: usage.costUsd,
      model: model.modelId,
      finishReason,
      durationMs,
      messagePublicId: last.id,
      toolCalls,
      pendingApprovals: pendingApprovals.map(pendingApprovalBody),
    },
  ];
}

/** A whole stream, its text in one piece. */
function eventsOf(reply: TurnReply, text: string): StreamEvent[] {
  return [beginningOf(reply.conversation.id), ...(text === '' ? [] : [textOf(text)]), endOf(reply)];
}
