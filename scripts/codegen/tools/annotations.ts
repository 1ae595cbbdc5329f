import type { OperationId } from '../../../generated/operations.ts';
import type { OperationRow } from '../operations.ts';

/** Operations with the method POST that take something away: what they overwrite, stop or replace does not come back by itself. */
const DESTRUCTIVE_POSTS = new Set<OperationId>([
  /* The draft is overwritten. */
  'restoreVersion',
  /* The tool runs, whatever it does. */
  'testTool',
  'suspendClient',
  /* The present picture is deleted. */
  'uploadHubLogo',
]);

/** Operations with the method POST whose second call with the same arguments changes nothing, mostly because it is refused. */
const IDEMPOTENT_POSTS = new Set<OperationId>([
  'restoreVersion',
  'connectChannel',
  'discoverExternalMcp',
  'suspendClient',
  'reactivateClient',
]);

/** Changes that are not the same when they are made twice: the options of a variable get new ids, a plan's content a new package. */
const NOT_IDEMPOTENT = new Set<OperationId>(['updateVariable', 'updatePlan']);

/** Operations that reach beyond the service although no answer of theirs says so: other people's servers, mail. */
const OPEN_WORLD = new Set<OperationId>([
  'testTool',
  'createTool',
  'updateTool',
  'createExternalMcp',
  'updateExternalMcp',
  'discoverExternalMcp',
  'createClient',
  'resendClientInvitation',
  'uploadHubLogo',
]);

/**
 * The hints of a tool, all that count for it. By the protocol a tool that is not destructive only adds: whoever changes a field loses
 * its former value, so PUT, PATCH and DELETE are destructive. Where 502 is documented, the operation asks somebody else's server.
 */
export function annotationsOf({ operationId, method, statuses }: OperationRow): Record<string, boolean> {
  const id = operationId as OperationId;
  const openWorldHint = statuses.includes(502) || OPEN_WORLD.has(id);
  if (method === 'GET') return { readOnlyHint: true, openWorldHint };
  const post = method === 'POST';
  return {
    readOnlyHint: false,
    destructiveHint: !post || DESTRUCTIVE_POSTS.has(id),
    idempotentHint: post ? IDEMPOTENT_POSTS.has(id) || id.startsWith('link') : !NOT_IDEMPOTENT.has(id),
    openWorldHint,
  };
}
