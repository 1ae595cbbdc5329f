import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findLastLink, insertExternalLink } from '../../db/queries/hubs/externalLinks.ts';
import { lockHub } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Handler } from '../handler.ts';
import { checkLinkAddress, linkBody } from './linkBody.ts';

/** More would not fit into a menu. */
const MAX_LINKS = 10;

export const createExternalLink: Handler<'createExternalLink'> = async ({ body, db, workspaceId, clock, reply }) => {
  const { title, url } = body;
  checkLinkAddress(url);
  const now = clock.now();
  const row = await inTransaction(db, async (trx) => {
    // Links of one hub are added one after the other: two of them cannot both take the last place.
    await lockHub(trx, workspaceId, now);
    const last = await findLastLink(trx, workspaceId);
    if (last.count >= MAX_LINKS) throw fault('EXTERNAL_LINK_LIMIT_REACHED');
    return await insertExternalLink(trx, {
      workspace_id: workspaceId,
      id: newId(),
      // A title that is taken violates external_links_title_key, which is EXTERNAL_LINK_TITLE_TAKEN (db/errors.ts).
      title,
      url,
      display_order: last.place + 1,
      created_at: now,
      updated_at: now,
    });
  });
  return reply(201, linkBody(row));
};
