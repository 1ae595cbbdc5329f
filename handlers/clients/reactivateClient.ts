import { reopenClient } from '../../domain/clients/suspension.ts';
import type { Handler } from '../handler.ts';
import { clientBody } from './clientBody.ts';

export const reactivateClient: Handler<'reactivateClient'> = async (context) => {
  await reopenClient(context, context.path.clientPublicId);
  return context.reply(200, await clientBody(context, context.path.clientPublicId));
};
