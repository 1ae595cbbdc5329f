import { dropUser } from '../../domain/clients/users.ts';
import type { Handler } from '../handler.ts';
import { clientBody } from './clientBody.ts';

export const removeClientUser: Handler<'removeClientUser'> = async (context) => {
  const { path, reply } = context;
  await dropUser(context, path.clientPublicId, path.userPublicId);
  return reply(200, await clientBody(context, path.clientPublicId));
};
