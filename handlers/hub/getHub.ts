import { ensureHub } from '../../db/queries/hubs/hubs.ts';
import type { Handler } from '../handler.ts';
import { hubBody } from './hubBody.ts';

export const getHub: Handler<'getHub'> = async ({ db, workspaceId, runtime, clock, reply }) =>
  reply(200, hubBody(await ensureHub(db, workspaceId, clock.now()), runtime));
