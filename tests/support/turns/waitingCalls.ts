import { send, stored } from '../../http/messages/turns.ts';
import { turnsOf } from '../agents/runtimeAgents.ts';
import type { TestApp } from '../http/app.ts';
import { until } from '../poll.ts';
import type { ModelServer } from '../servers/modelServer.ts';

/** A call of the tool `pay`, as a model asks for it. */
export const payCall = (city: string) => ({
  id: `call_pay_${city}`,
  name: 'pay',
  arguments: JSON.stringify({ city }),
});

/** A conversation whose agent waits for the approval of a call of `pay` for each city. */
export async function conversationThatWaits(
  app: TestApp,
  server: ModelServer,
  agentId: string,
  ...cities: string[]
): Promise<{ conversationId: string; approvals: string[] }> {
  server.script({ reply: 'I will pay.', toolCalls: cities.map(payCall) });
  const { body } = await send(app, agentId, { content: 'Pay them.' }, app.workspace.apiKey).expect(200);
  const approvals = body.pendingApprovals.map(({ publicId }: { publicId: string }) => publicId);
  expect(approvals).toHaveLength(cities.length);
  return { conversationId: body.conversationId, approvals };
}

/** The last message of a conversation, once no turn of it runs or waits. */
export function lastReply(app: TestApp, conversationId: string): Promise<string> {
  // 15 s: well before a sweep finds what the queue missed.
  return until(async () => {
    const turns = await turnsOf(app, conversationId);
    if (turns.some(({ status }) => status === 'waiting' || status === 'running')) return undefined;
    return (await stored(app, conversationId, app.workspace.apiKey)).at(-1)?.content;
  });
}
