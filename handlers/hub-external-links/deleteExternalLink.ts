import { fault } from '../../core/errors.ts';
import { softDeleteExternalLink } from '../../db/queries/hubs/externalLinks.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Handler } from '../handler.ts';

export const deleteExternalLink: Handler<'deleteExternalLink'> = async ({ path, db, workspaceId, clock, reply }) => {
  const deleted = await inTransaction(db, (trx) =>
    softDeleteExternalLink(trx, workspaceId, path.linkPublicId, clock.now()),
  );
  if (!deleted) throw fault('EXTERNAL_LINK_NOT_FOUND');
  return reply(204);
};
