import type { IncomingHttpHeaders } from 'node:http';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../../../core/clock.ts';
import type { ErrorCode } from '../../../core/errors.ts';
import type { DB } from '../../../generated/db.ts';
import type { Jobs } from '../../../jobs/jobs.ts';
import type { Runtime } from '../../../runtime/runtime.ts';

/** What the service gives to a hook: the same for every request. */
export interface HookContext {
  forWorkspace(workspaceId: string): Kysely<DB>;
  /** Sees all workspaces: for what must be found before its workspace is known. */
  system: Kysely<DB>;
  runtime: Runtime;
  jobs: Jobs;
  clock: Clock;
  /** Nothing of a request's address or headers may be logged: they have secrets. */
  logger: Logger;
}

/** A request of another system, as it came. */
export interface HookRequest extends HookContext {
  requestId: string;
  headers: IncomingHttpHeaders;
  /** Without the question mark, not decoded. */
  search: string;
  /** The bytes of the body, for signatures; empty without one. */
  body: Buffer;
}

/** A request to an address: whose it is, is known. */
export interface AddressedRequest extends HookRequest {
  workspaceId: string;
  /** What the address belongs to: an automation or a channel connection. */
  targetId: string;
  /** Bound to the workspace. */
  db: Kysely<DB>;
}

/** The answer of a hook. Errors are thrown, as handlers do. */
export interface HookReply {
  status: number;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as plain text, in place of `body`. */
  text?: string;
}

/** What every hook says of itself. */
interface HookBase {
  /** In metrics and in the log, in place of an operation. */
  name: string;
  method: 'GET' | 'POST';
  /** Largest body in bytes. */
  maxBytes: number;
}

/** A hook that many addresses have: the last segment of its path is `{address}`. Its requests are counted by address. */
export interface AddressedHook extends HookBase {
  /** Below `/hooks`, such as `/automations/{address}`. */
  path: `/${string}/{address}`;
  kind: 'automation' | 'channel';
  /** For an address that does not exist or does not work any more. */
  notFound: ErrorCode;
  /** For each address; more are 429 with `Retry-After`. */
  requestsPerMinute: number;
  handle(request: AddressedRequest): Promise<HookReply>;
}

/** A hook with one address for all workspaces. `handle` finds out whose request it is, from what is signed. */
export interface SharedHook extends HookBase {
  path: `/${string}`;
  kind: undefined;
  handle(request: HookRequest): Promise<HookReply>;
}

/** Something that other systems call without an API key. */
export type Hook = AddressedHook | SharedHook;
