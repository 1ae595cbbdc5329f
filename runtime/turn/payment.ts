import { type ApiError, fault, invalid } from '../../core/errors.ts';
import { findPaymentRefusal, type Payment, type PaymentRefusal } from '../../db/queries/credits/reserve.ts';
import type { KnownWorkspace } from '../../db/queries/turns/knownWorkspace.ts';
import type { Turn, TurnRequest } from './types.ts';

/** The client that a conversation begins for: the one that the metadata of its first message names. */
function payerOf({ metadata }: TurnRequest): string | null {
  const named = metadata?.clientPublicId;
  return typeof named === 'string' ? named : null;
}

/**
 * What a turn must be paid from. Null when there is nothing: its statements then do no work for it. `mayBeOfClient` says whether the
 * conversation that is continued may belong to a client.
 */
export function paymentOf(
  request: TurnRequest,
  { hasBudgets }: Pick<KnownWorkspace, 'hasBudgets'>,
  { externalUserId, mayBeOfClient }: { externalUserId: string; mayBeOfClient: boolean },
): Payment | null {
  const isNew = request.conversationId === undefined;
  const payer = isNew ? payerOf(request) : null;
  return hasBudgets || payer !== null || (!isNew && mayBeOfClient) ? { payer, externalUserId, hasBudgets } : null;
}

/** The error of a turn that nobody pays for, when its payment is refused now. */
export async function paymentRefusal(
  turn: Pick<Turn, 'db' | 'workspaceId' | 'runtime' | 'kind' | 'request' | 'payment'>,
): Promise<ApiError | undefined> {
  const { db, workspaceId, runtime, kind, request, payment } = turn;
  if (!payment) return undefined;
  const now = runtime.clock.now();
  const { agentId, conversationId } = request;
  const refusal = await findPaymentRefusal(db, { workspaceId, agentId, conversationId, kind, now }, payment);
  return refusal && refusalFault(refusal, now);
}

function refusalFault({ reason, until }: PaymentRefusal, now: Date): ApiError {
  const seconds = until && Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  const options = seconds === null ? {} : { headers: { 'Retry-After': String(seconds) } };
  switch (reason) {
    case 'client_unknown':
      return invalid('/body/metadata/clientPublicId', 'no client of the hub has this id');
    case 'client_not_active':
      return fault('CLIENT_NOT_ACTIVE', 'The client that the conversation belongs to is not active.');
    case 'credits':
      return fault('OPERATION_LIMIT_REACHED', 'The client has no credits left.', options);
    case 'budget':
      return fault('OPERATION_LIMIT_REACHED', 'A budget of this month is used up.', options);
  }
}
