import type { Kysely } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { DB } from '../generated/db.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** What the rules of a workspace's things need from their caller: a request, a job or an admin command. */
export interface WorkspaceContext {
  /** Bound to the workspace. */
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Runtime;
  clock: Pick<Clock, 'now'>;
}
