import type { Handler } from '../handler.ts';
import { clientBody } from './clientBody.ts';

export const getClient: Handler<'getClient'> = async (context) => {
  return context.reply(200, await clientBody(context, context.path.clientPublicId));
};
