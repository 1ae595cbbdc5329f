import { invalid } from '../../core/errors.ts';
import { isOneLine } from '../../domain/clients/emails.ts';
import { changeUser } from '../../domain/clients/users.ts';
import type { Handler } from '../handler.ts';
import { clientBody } from './clientBody.ts';

export const updateClientUser: Handler<'updateClientUser'> = async (context) => {
  const { path, body, reply } = context;
  if (body.name !== undefined && !isOneLine(body.name))
    throw invalid('/body/name', 'The name must have no control characters.');
  await changeUser(context, path.clientPublicId, path.userPublicId, body);
  return reply(200, await clientBody(context, path.clientPublicId));
};
