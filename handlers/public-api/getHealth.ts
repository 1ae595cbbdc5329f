import type { Handler } from '../handler.ts';

export const getHealth: Handler<'getHealth'> = async ({ workspaceId, apiKeyId, reply }) =>
  reply(200, { status: 'ok', workspacePublicId: workspaceId, apiKeyPublicId: apiKeyId });
