import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../../../core/clock.ts';
import { type ApiError, fault } from '../../../core/errors.ts';
import type { HubNameOwner } from '../../../db/queries/hubs/hubNames.ts';
import { findHub } from '../../../db/queries/hubs/hubs.ts';
import { findSession } from '../../../domain/hubs/sessions.ts';
import type { DB } from '../../../generated/db.ts';
import { API_PREFIX } from '../../../generated/operations.ts';
import type { Jobs } from '../../../jobs/jobs.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { createMatcher } from '../../api/contract/matcher.ts';
import { toApiError } from '../../api/errors.ts';
import { identify } from '../../api/identify.ts';
import type { RequestTurns } from '../../api/requestTurns.ts';
import type { UnderWay } from '../../api/underWay.ts';
import type { UnreadAnswers } from '../../api/unread.ts';
import type { Telemetry } from '../../telemetry.ts';
import { type HubDirectory, readHost } from './directory.ts';
import { everyHubRoute } from './everyHubRoute.ts';
import { isOwnForm, readHubForm } from './form.ts';
import type { HubLimits } from './limits.ts';
import { problemPage } from './problems.ts';
import { sendReply, setPageHeaders } from './reply.ts';
import { sessionTokenOf } from './session.ts';
import { type HubWay, siteOf } from './site.ts';
import type { HubRoute, HubSite } from './visit.ts';

/** Everything that the hub's pages need; AppParts has it. */
export interface HubParts {
  hubDirectory: HubDirectory;
  hubLimits: HubLimits;
  forWorkspace(workspaceId: string): Kysely<DB>;
  runtime: Runtime;
  jobs: Jobs;
  clock: Clock;
  logger: Logger;
  requestTurns: RequestTurns;
  underWay: UnderWay;
  unread: UnreadAnswers;
  telemetry: Telemetry;
  serving(): boolean;
  /** Milliseconds in which a form must arrive; for tests. */
  formMs?: number;
}

/** Paths that the service itself has on a host that may be a hub's custom domain. No hub is looked up for them. */
const SERVICE_PATHS = [API_PREFIX, '/hooks', '/internal', '/livez', '/readyz', '/metrics'];
/** Paths below a hub's own host that the service answers as everywhere. */
const SHARED_PATHS = ['/files/', '/chat/'];

/** The pages of the hubs: on hosts of their own, and below `/hub` of the service. */
export interface HubRoutes {
  /** Put it before everything else: it passes on what is not for a hub. */
  byHost: RequestHandler;
  /** Below `/hub`. */
  byPath: RequestHandler;
}

/** Serves the pages of the hubs. A hub is named by the host or the path, and nothing of a request says more of whose it is. */
export function hubRoutes(parts: HubParts): HubRoutes {
  const { telemetry, hubDirectory, hubLimits, clock } = parts;
  const match = createMatcher<HubRoute>(everyHubRoute);

  /** Serves a request whose hub is found by `find`. `url`: below the address of the hub. */
  async function serve(
    request: Request,
    response: Response,
    { way, url, find }: { way: HubWay; url: string; find: () => Promise<HubNameOwner | undefined> },
  ): Promise<void> {
    const startedAt = performance.now();
    const requestId = identify(request, response);
    setPageHeaders(response);
    let route: HubRoute | undefined;
    let site: HubSite | undefined;
    let failure: ApiError | undefined;
    let leave = () => {};
    telemetry.started();
    response.once('close', () => {
      telemetry.finished({
        requestId,
        method: request.method,
        operationId: route?.name ?? 'unmatched',
        workspaceId: site?.workspaceId,
        status: response.headersSent ? response.statusCode : 499,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        error: failure,
      });
    });
    try {
      if (!parts.serving()) throw fault('UNAVAILABLE');
      hubLimits.takeAddress('page', request.ip);
      const owner = await find();
      if (!owner) throw fault('NOT_FOUND');
      const { workspace_id: workspaceId, request_limit: requests } = owner;
      await parts.requestTurns.take(workspaceId);
      const db = parts.forWorkspace(workspaceId);
      const hub = await findHub(db, workspaceId);
      if (!hub) throw fault('NOT_FOUND');
      site = siteOf(parts.runtime, owner, hub, way);
      const [path = '', search = ''] = splitOnce(url);
      const found = match(request.method, path === '' ? '/' : path);
      route = found.operation;
      leave = parts.underWay.enter({ workspaceId, limits: { requests, turns: null } }, route.name, response);
      if (route.counted !== 'page') hubLimits.takeAddress(route.counted, request.ip);
      hubLimits.takeHub(route.counted, workspaceId);
      const isPost = route.method === 'POST';
      if (isPost && !isOwnForm(request, site.isSecure)) throw fault('VALIDATION_ERROR');
      const form = isPost ? await readHubForm(request, response, parts.formMs) : new URLSearchParams();
      const sessionToken = sessionTokenOf(site, request);
      const known =
        route.asksUser && sessionToken !== undefined
          ? await findSession(db, { workspaceId, token: sessionToken, now: clock.now() })
          : undefined;
      const { runtime, jobs, logger } = parts;
      const reply = await route.handle({
        site,
        db,
        workspaceId,
        runtime,
        jobs,
        clock,
        logger,
        limits: hubLimits,
        requestId,
        params: found.params,
        query: new URLSearchParams(search),
        form,
        user: known?.user,
        sessionToken,
      });
      sendReply(site, response, known?.renewed ? { session: known.renewed, ...reply } : reply, clock.now());
    } catch (error) {
      failure = toApiError(error);
      for (const [name, value] of Object.entries(failure.headers)) response.setHeader(name, value);
      if (failure.status === 503 && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '5');
      const page = problemPage(site, failure.status, requestId);
      if (response.headersSent) response.destroy();
      else sendReply(site, response, { page, status: failure.status }, clock.now());
    } finally {
      leave();
      parts.unread.watch(response, site?.workspaceId ?? '');
    }
  }

  async function byHost(request: Request, response: Response, next: NextFunction): Promise<void> {
    const host = readHost(parts.runtime, request.headers.host);
    const { path } = request;
    if (host.kind === 'service') return next();
    if (host.kind === 'maybe') {
      if (SERVICE_PATHS.some((each) => path === each || path.startsWith(`${each}/`))) return next();
      let owner: HubNameOwner | undefined;
      try {
        owner = await hubDirectory.ownerOf(host.name, 'domain');
      } catch (error) {
        return next(error);
      }
      if (!owner || SHARED_PATHS.some((each) => path.startsWith(each))) return next();
      return serve(request, response, { way: 'host', url: request.url, find: async () => owner });
    }
    if (SHARED_PATHS.some((each) => path.startsWith(each))) return next();
    const { name } = host;
    const find = async () => (name === undefined ? undefined : hubDirectory.ownerOf(name, 'subdomain'));
    return serve(request, response, { way: 'host', url: request.url, find });
  }

  function byPath(request: Request, response: Response): Promise<void> {
    const [path = '', search] = splitOnce(request.url);
    const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(path) ?? [];
    const url = search === undefined ? rest : `${rest}?${search}`;
    return serve(request, response, { way: 'path', url, find: () => hubDirectory.ownerOf(name, 'subdomain') });
  }

  return { byHost, byPath };
}

function splitOnce(url: string): [string, string?] {
  const at = url.indexOf('?');
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
