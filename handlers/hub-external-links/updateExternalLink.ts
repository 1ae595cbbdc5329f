import { fault } from '../../core/errors.ts';
import { findExternalLink, updateExternalLinkRow } from '../../db/queries/hubs/externalLinks.ts';
import type { Handler } from '../handler.ts';
import { checkLinkAddress, linkBody } from './linkBody.ts';

export const updateExternalLink: Handler<'updateExternalLink'> = async (context) => {
  const { path, body, db, workspaceId, clock, reply } = context;
  const { title, url } = body;
  checkLinkAddress(url);
  const id = path.linkPublicId;
  const row =
    title === undefined && url === undefined
      ? await findExternalLink(db, workspaceId, id)
      : await updateExternalLinkRow(db, workspaceId, id, { title, url, updated_at: clock.now() });
  if (!row) throw fault('EXTERNAL_LINK_NOT_FOUND');
  return reply(200, linkBody(row));
};
