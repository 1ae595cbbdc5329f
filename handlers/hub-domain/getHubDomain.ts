import { ensureHub } from '../../db/queries/hubs/hubs.ts';
import type { Handler } from '../handler.ts';
import { domainBody } from '../hub/hubBody.ts';

export const getHubDomain: Handler<'getHubDomain'> = async ({ db, workspaceId, runtime, clock, reply }) =>
  reply(200, domainBody(await ensureHub(db, workspaceId, clock.now()), runtime));
