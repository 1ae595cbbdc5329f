import type { SecretBox } from '../../../core/secrets.ts';
import type { KeptAnswer, KeyedRequest } from '../../../db/queries/workspaces/idempotencyKeys.ts';
import type { OperationId } from '../../../generated/operations.ts';

/** Operations whose answer has a secret that is stored nowhere else: whoever repeats the request must get it again. */
const WITH_SECRETS: ReadonlySet<OperationId> = new Set(['createAutomation']);

const placeOf = ({ workspaceId, keyHash }: Pick<KeyedRequest, 'workspaceId' | 'keyHash'>) => ({
  workspaceId,
  table: 'idempotency_keys',
  rowId: keyHash.toString('hex'),
  column: 'body',
});

/** The answer as it is kept: encrypted when the operation's answers have a secret. */
export function sealAnswer(
  secrets: SecretBox,
  operationId: OperationId,
  request: Pick<KeyedRequest, 'workspaceId' | 'keyHash'>,
  answer: KeptAnswer,
): KeptAnswer {
  if (!WITH_SECRETS.has(operationId)) return answer;
  return { ...answer, body: secrets.seal(answer.body, placeOf(request)).toString('base64') };
}

/** The kept answer as it was sent. Errors are kept as they are. Throws SecretUnreadable. */
export function openAnswer(
  secrets: SecretBox,
  operationId: OperationId,
  request: KeyedRequest,
  answer: KeptAnswer,
): KeptAnswer {
  if (!WITH_SECRETS.has(operationId) || answer.status >= 400) return answer;
  return { ...answer, body: secrets.open(Buffer.from(answer.body, 'base64'), placeOf(request)) };
}
