import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';

/** What `/health` tells of a key. */
export interface Health {
  status: string;
  workspacePublicId: string;
  apiKeyPublicId: string;
}

/**
 * Asks a service whether it takes a key.
 * @throws the SDK's errors; Failure `not_healthy` (1) when the answer is none of a service that is well
 */
export async function askHealth(context: Context, login: { apiKey: string; baseUrl: string }): Promise<Health> {
  const api = await context.apiWith(login);
  const health: Partial<Health> | undefined = await api.call('getHealth');
  if (health?.status === 'ok' && health.workspacePublicId && health.apiKeyPublicId) return health as Health;
  throw new Failure('not_healthy', 1, `${login.baseUrl} does not answer as this API does.`, {
    hint: 'Check the address: --base-url or GUILDHALL_BASE_URL.',
  });
}
