import { addFile, addText } from '../../domain/knowledge/sources.ts';
import type { Handler } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

/** Add a knowledge source, from a JSON body with its text or from a form with its file. Throws UNSUPPORTED_MEDIA_TYPE. */
export const createKnowledgeSource: Handler<'createKnowledgeSource'> = async (context) => {
  const { body, upload, reply } = context;
  if (body) return reply(201, sourceBody(await addText(context, body)));
  if (!upload) throw new Error('createKnowledgeSource got neither a body nor a form');
  const { file, fields } = upload;
  const { name, description = null } = fields.metadata ?? {};
  const { path, name: filename, sizeBytes, mediaType } = file;
  const source = await addFile(context, { path, filename, sizeBytes, mediaType, name, description });
  return reply(201, sourceBody(source));
};
