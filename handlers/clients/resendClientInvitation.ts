import { renewInvitation } from '../../domain/clients/invitations.ts';
import type { Handler } from '../handler.ts';
import { invitationBody } from './clientBody.ts';

export const resendClientInvitation: Handler<'resendClientInvitation'> = async (context) => {
  const { path, clock, reply } = context;
  const row = await renewInvitation(context, path.clientPublicId, path.invitationPublicId);
  const { id, created_at: createdAt, expires_at: expiresAt } = row;
  return reply(200, invitationBody({ id, createdAt, expiresAt }, row, clock.now()));
};
