import { localOrigin, publicUrlOf } from '../../server/config.ts';

/** Where others reach the service, for the addresses that an operator enters elsewhere. */
export function originOf(env: NodeJS.ProcessEnv): string {
  return publicUrlOf(env) ?? localOrigin(env.HOST || '127.0.0.1', Number(env.PORT || 3000));
}
