import { reasonOf } from '../db/reachable.ts';

/** A setting by name, as a message says it. */
export type Setting = `${
  | 'PORT'
  | 'HOST'
  | 'DATABASE_URL'
  | 'GUILDHALL_DATABASE_DIRECT_URL'
  | 'GUILDHALL_DATA_DIR'
  | 'GUILDHALL_METRICS_PORT'} ${string}`;

/** Codes of `listen` that are about the address and not about the port. */
const OF_THE_HOST = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']);

/**
 * Why the service does not start, in one line that begins with the setting to look at. An error that names a setting already is returned as it
 * is, and so is a fault of ours, whose stack is needed.
 */
export function startError(setting: Setting, error: unknown): unknown {
  const reason = reasonOf(error);
  if (/\b(GUILDHALL_[A-Z_]+|DATABASE_URL)\b/.test(reason) || error instanceof TypeError) return error;
  return new Error(`${setting} cannot be used: ${reason}`, { cause: error });
}

/** As `startError`, for an address that cannot be listened on. */
export function listenError({ host, port }: { host: string; port: number }, error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  return startError(OF_THE_HOST.has(code) ? `HOST ${host}` : `PORT ${port}`, error);
}

/** A database's address without the login and its password. */
export function addressOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return host + pathname;
}
