import type { OperationId } from '../../generated/operations.ts';
import type { Handler } from '../../handlers/handler.ts';
import type { ValidRequest } from './contract/dispatcher.ts';
import { contextOf, type Exchange } from './exchange.ts';
import { type OnceParts, respondOnce } from './idempotency/once.ts';

/** What answers to requests need. */
export type ResponderParts = OnceParts;

/** Runs the handler of a valid request and sends its answer. Throws what the handler throws. */
export async function respond(
  parts: ResponderParts,
  valid: ValidRequest,
  handler: Handler<OperationId>,
  exchange: Exchange,
): Promise<void> {
  const { idempotencyKey } = exchange;
  if ('send' in handler) return void (await handler.send(contextOf(parts, valid, exchange)));
  if (idempotencyKey !== undefined) return respondOnce(parts, valid, handler, { ...exchange, idempotencyKey });
  const context = contextOf(parts, valid, exchange);
  const work = typeof handler === 'function' ? handler : await handler.prepare(context);
  await work(context);
}
