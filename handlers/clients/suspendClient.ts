import { stopClient } from '../../domain/clients/suspension.ts';
import type { Handler } from '../handler.ts';
import { clientBody } from './clientBody.ts';

export const suspendClient: Handler<'suspendClient'> = async (context) => {
  const { path, body, reply } = context;
  await stopClient(context, path.clientPublicId, {
    code: body?.cancellationReason ?? null,
    reason: body?.reason ?? null,
  });
  return reply(200, await clientBody(context, path.clientPublicId));
};
