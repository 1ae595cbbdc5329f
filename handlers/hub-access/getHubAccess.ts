import { ensureHub } from '../../db/queries/hubs/hubs.ts';
import type { Handler } from '../handler.ts';
import { accessBody } from '../hub/hubBody.ts';

export const getHubAccess: Handler<'getHubAccess'> = async ({ db, workspaceId, runtime, clock, reply }) =>
  reply(200, accessBody(await ensureHub(db, workspaceId, clock.now()), runtime));
