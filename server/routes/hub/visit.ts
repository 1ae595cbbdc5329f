import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../../../core/clock.ts';
import type { TokenUser } from '../../../db/queries/clients/clientTokens.ts';
import type { HubRow } from '../../../db/queries/hubs/hubs.ts';
import type { NewToken } from '../../../domain/hubs/sessions.ts';
import type { DB } from '../../../generated/db.ts';
import type { Jobs } from '../../../jobs/jobs.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { HubPage, PageSite } from '../../pages/hub/shell.ts';
import type { HubAsset } from './assets.ts';
import type { HubLimitKind, HubLimits } from './limits.ts';

/** A hub as a request came to it. */
export interface HubSite extends PageSite {
  workspaceId: string;
  hub: HubRow;
  /** The public address of this hub without a slash at its end: of the name that the request came to, as the database has it. */
  address: string;
  /** Whether browsers reach it by https: its cookies are sent over nothing else then. */
  isSecure: boolean;
}

/** A request for a page of a hub. */
export interface HubVisit {
  site: HubSite;
  /** Bound to the workspace. */
  db: Kysely<DB>;
  workspaceId: string;
  runtime: Runtime;
  jobs: Jobs;
  clock: Clock;
  /** Nothing of a request's address or form may be logged: they have secrets. */
  logger: Logger;
  limits: HubLimits;
  requestId: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The fields of the form of a POST, without what PostgreSQL cannot store; empty for a GET. */
  form: URLSearchParams;
  /** Who is signed in. */
  user: TokenUser | undefined;
  /** The secret of the session that the browser has shown, whether or not it works. */
  sessionToken: string | undefined;
}

/** The answer to a visit. Errors are thrown, as handlers do, and shown as a page in the hub's brand. */
export type HubReply = (
  | {
      page: HubPage;
      status?: number /** Where the form of the page may lead, beside the hub itself. */;
      formTargets?: string;
      isPublic?: boolean;
    }
  | { redirect: string }
  | { asset: HubAsset }
) & {
  /** A session that begins, or null for one that ends. */
  session?: NewToken | null;
};

/** A page of every hub. */
export interface HubRoute {
  /** In metrics and in the log, in place of an operation. */
  name: string;
  method: 'GET' | 'POST';
  /** Below the address of the hub. */
  path: `/${string}`;
  counted: HubLimitKind;
  /** Whether it asks who is signed in. */
  asksUser?: boolean;
  handle(visit: HubVisit): HubReply | Promise<HubReply>;
}
