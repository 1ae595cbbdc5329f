import { selectExternalLinks } from '../../db/queries/hubs/externalLinks.ts';
import type { Handler } from '../handler.ts';
import { linkBody } from './linkBody.ts';

export const listExternalLinks: Handler<'listExternalLinks'> = async ({ db, workspaceId, reply }) =>
  reply(200, (await selectExternalLinks(db, workspaceId)).map(linkBody));
