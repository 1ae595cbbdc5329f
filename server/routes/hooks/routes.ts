import type { Request, RequestHandler, Response } from 'express';
import { type ApiError, fault } from '../../../core/errors.ts';
import type { AddressOwner } from '../../../db/queries/workspaces/publicAddresses.ts';
import { createMatcher } from '../../api/contract/matcher.ts';
import { sendError, toApiError } from '../../api/errors.ts';
import { identify } from '../../api/identify.ts';
import { createRateLimiter, type RateLimiter } from '../../api/rateLimit.ts';
import type { RequestTurns } from '../../api/requestTurns.ts';
import { sendJson } from '../../api/sendJson.ts';
import { readTimelyBody } from '../../api/timelyBody.ts';
import type { UnderWay } from '../../api/underWay.ts';
import type { UnreadAnswers } from '../../api/unread.ts';
import type { Telemetry } from '../../telemetry.ts';
import type { AddressBook } from './addressBook.ts';
import type { AddressedHook, Hook, HookContext, HookReply } from './hook.ts';

/** Everything that the hooks need; AppParts has it. */
export interface HookParts extends HookContext {
  addresses: AddressBook;
  requestTurns: RequestTurns;
  underWay: UnderWay;
  unread: UnreadAnswers;
  telemetry: Telemetry;
  serving(): boolean;
  /** Milliseconds in which a body must arrive; for tests. */
  bodyMs?: number;
}

/** Senders are servers: a body that takes longer is kept back. */
const BODY_MS = 10_000;
/** Requests of one address that are read or handled at a time in this process: each may hold a whole body. */
const MAX_AT_ONCE = 20;
/** The same for the hooks that all workspaces share. */
const MAX_SHARED_AT_ONCE = 100;
const LIMIT_NAMES = { policy: 'address', message: 'Too many requests to this address. Wait and try again.' };

/**
 * Serves what is called without an API key, below `/hooks`. The address is the credential: it is looked up first, and no log, metric,
 * error or header has it. Every error is the API's.
 */
export function hookRoutes(parts: HookParts, hooks: readonly Hook[]): RequestHandler {
  const { telemetry, bodyMs = BODY_MS } = parts;
  const match = createMatcher(hooks.map((hook) => ({ hook, path: hook.path, method: hook.method })));
  const limiters = new Map(
    hooks.flatMap((hook): [Hook, RateLimiter][] =>
      hook.kind ? [[hook, createRateLimiter(hook.requestsPerMinute, LIMIT_NAMES)]] : [],
    ),
  );
  const atOnce = new Map<string, number>();

  /** Whose address it is. Throws NOT_FOUND, and RATE_LIMITED when the address has had its requests of this minute. */
  async function admit(hook: AddressedHook, address: string, request: Request, response: Response) {
    const owner = await parts.addresses.ownerOf(hook.kind, address);
    if (!owner) throw fault(hook.notFound);
    await limiters.get(hook)?.take(owner.address_hash.toString('base64'), request, response);
    return owner;
  }

  /** Counts a request until the returned function is called. Throws RATE_LIMITED when too many of its address are under way. */
  function enter(id: string, most: number): () => void {
    const count = atOnce.get(id) ?? 0;
    if (count >= most) throw fault('RATE_LIMITED', LIMIT_NAMES.message, { headers: { 'Retry-After': '1' } });
    atOnce.set(id, count + 1);
    return () => {
      const left = (atOnce.get(id) ?? 0) - 1;
      if (left > 0) atOnce.set(id, left);
      else atOnce.delete(id);
    };
  }

  /** The same for an address of a workspace, which may have a limit of its own. */
  function enterAddress({ address_hash, workspace_id, request_limit }: AddressOwner, name: string, response: Response) {
    const leaveAddress = enter(address_hash.toString('base64'), MAX_AT_ONCE);
    const limits = { requests: request_limit, turns: null };
    try {
      const leaveWorkspace = parts.underWay.enter({ workspaceId: workspace_id, limits }, name, response);
      return () => {
        leaveAddress();
        leaveWorkspace();
      };
    } catch (error) {
      leaveAddress();
      throw error;
    }
  }

  return async (request, response) => {
    const startedAt = performance.now();
    const requestId = identify(request, response);
    let hook: Hook | undefined;
    let workspaceId: string | undefined;
    let failure: ApiError | undefined;
    let leave = () => {};
    let begun = false;
    const turn = async () => {
      begun = true;
      await parts.requestTurns.take(workspaceId ?? '');
    };
    telemetry.started();
    response.once('close', () => {
      telemetry.finished({
        requestId,
        method: request.method,
        operationId: hook?.name ?? 'unmatched',
        workspaceId,
        status: response.headersSent ? response.statusCode : 499,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        error: failure,
      });
    });
    try {
      const [path = '', search = ''] = splitOnce(request.url);
      const found = match(request.method, path);
      hook = found.operation.hook;
      if (!parts.serving()) throw fault('UNAVAILABLE');
      const { forWorkspace, system, runtime, jobs, clock, logger } = parts;
      const common = {
        forWorkspace,
        system,
        runtime,
        jobs,
        clock,
        logger,
        requestId,
        headers: request.headers,
        search,
      };
      if (hook.kind) {
        const owner = await admit(hook, found.params.address ?? '', request, response);
        workspaceId = owner.workspace_id;
        leave = enterAddress(owner, hook.name, response);
        const body = await readTimelyBody(request, response, { limit: hook.maxBytes, ms: bodyMs });
        await turn();
        const db = forWorkspace(workspaceId);
        send(response, await hook.handle({ ...common, body, workspaceId, targetId: owner.target_id, db }));
      } else {
        leave = enter(hook.name, MAX_SHARED_AT_ONCE);
        const body = await readTimelyBody(request, response, { limit: hook.maxBytes, ms: bodyMs });
        await turn();
        send(response, await hook.handle({ ...common, body }));
      }
    } catch (error) {
      failure = toApiError(error);
      // Who sends again at once after each refusal must not keep others waiting either.
      if (!begun) await turn();
      sendError(response, failure, requestId);
    } finally {
      leave();
      parts.unread.watch(response, workspaceId ?? '');
    }
  };
}

function send(response: Response, { status, body, text }: HookReply): void {
  if (text !== undefined) response.status(status).type('text/plain').end(text);
  else if (body === undefined) response.status(status).end();
  else sendJson(response, status, body);
}

function splitOnce(url: string): [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}
