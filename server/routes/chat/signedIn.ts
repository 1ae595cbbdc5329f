import type { Request, Response } from 'express';
import { fault } from '../../../core/errors.ts';
import type { ChatPageRow } from '../../../db/queries/channels/chatPages.ts';
import { findSession, isSessionOpen } from '../../../domain/hubs/sessions.ts';
import { readHost } from '../hub/directory.ts';
import { isOwnForm } from '../hub/form.ts';
import { sessionCookie, sessionTokenOf } from '../hub/session.ts';
import { cookieSiteOf, type HubWay } from '../hub/site.ts';
import type { ChatParts } from './routes.ts';

/** The hub below whose address a request for a chat came. */
interface HubOfRequest {
  name: string;
  way: HubWay;
  kind: 'subdomain' | 'domain';
}

/** The name by which a request says which hub it means; undefined on the service's own host outside `/hub`. Looks nothing up. */
function hubOfRequest(parts: Pick<ChatParts, 'runtime'>, request: Request): HubOfRequest | undefined {
  const name = /^\/hub\/([^/]+)\/chat$/.exec(request.baseUrl)?.[1];
  if (name !== undefined) return { name, way: 'path', kind: 'subdomain' };
  const host = readHost(parts.runtime, request.headers.host);
  if (host.kind === 'service' || host.name === undefined) return undefined;
  return { name: host.name, way: 'host', kind: host.kind === 'hub' ? 'subdomain' : 'domain' };
}

/** Throws NOT_FOUND for a chat page below `/hub/<subdomain>` that is not one of this hub's workspace. */
export async function checkHubOf(parts: ChatParts, page: ChatPageRow, request: Request): Promise<void> {
  const hub = hubOfRequest(parts, request);
  if (hub?.way !== 'path') return;
  const owner = await parts.hubDirectory.ownerOf(hub.name, hub.kind);
  if (owner?.workspace_id !== page.workspace_id) throw fault('NOT_FOUND', 'There is no chat here.');
}

/**
 * The id of the signed-in user of a client who makes a request: by the session cookie of the hub that the chat page belongs to. Undefined for everybody else, and for
 * a request that another site makes: a client's credits are used by its own users on the hub's own pages only. A session that goes on with a new secret gets its cookie.
 */
export async function findSignedInUser(
  parts: ChatParts,
  page: ChatPageRow,
  request: Request,
  response: Response,
): Promise<string | undefined> {
  const hub = hubOfRequest(parts, request);
  if (!hub) return undefined;
  const site = cookieSiteOf(parts.runtime, hub.name, hub.way);
  const token = sessionTokenOf(site, request);
  if (token === undefined || (request.method !== 'GET' && !isOwnForm(request, site.isSecure))) return undefined;
  const owner = await parts.hubDirectory.ownerOf(hub.name, hub.kind);
  if (owner?.workspace_id !== page.workspace_id) return undefined;
  const now = parts.clock.now();
  const { workspace_id: workspaceId } = page;
  const session = await findSession(parts.forWorkspace(workspaceId), { workspaceId, token, now });
  if (session?.renewed) response.append('Set-Cookie', sessionCookie(site, session.renewed, now));
  return session?.user.id;
}

/** Whether the session that a request was let in by has not ended meanwhile. */
export async function isStillSignedIn(parts: ChatParts, page: ChatPageRow, request: Request): Promise<boolean> {
  const hub = hubOfRequest(parts, request);
  const token = hub && sessionTokenOf(cookieSiteOf(parts.runtime, hub.name, hub.way), request);
  const { workspace_id: workspaceId } = page;
  const shown = { workspaceId, token: token ?? '', now: parts.clock.now() };
  return isSessionOpen(parts.forWorkspace(workspaceId), shown);
}
