import type { OperationId } from '../../generated/operations.ts';
import type { Handler } from '../../handlers/handler.ts';
import type { ValidRequest } from './contract/dispatcher.ts';
import { contextOf, type Exchange } from './exchange.ts';
import { respondOnce } from './idempotency/once.ts';
import { respondSendOnce, type SendingParts } from './idempotency/sends.ts';

/** What answers to requests need. */
export type ResponderParts = SendingParts;

/** Runs the handler of a valid request and sends its answer. Throws what the handler throws. */
export async function respond(
  parts: ResponderParts,
  valid: ValidRequest,
  handler: Handler<OperationId>,
  exchange: Exchange,
): Promise<void> {
  const { idempotencyKey } = exchange;
  if (idempotencyKey !== undefined) {
    const keyed = { ...exchange, idempotencyKey };
    if ('send' in handler) return respondSendOnce(parts, valid, handler, keyed);
    return respondOnce(parts, valid, handler, keyed);
  }
  const context = contextOf(parts, valid, exchange);
  if ('send' in handler) await handler.send(context);
  else if ('prepare' in handler) await (await handler.prepare(context))(context);
  else await handler(context);
}
