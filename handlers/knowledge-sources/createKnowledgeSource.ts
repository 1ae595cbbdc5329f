import { admitSource, type PreparedSource, prepareFile, prepareText } from '../../domain/knowledge/sources.ts';
import type { Context, Handler } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

/** Add a knowledge source, from a JSON body with its text or from a form with its file. Throws UNSUPPORTED_MEDIA_TYPE. */
export const createKnowledgeSource: Handler<'createKnowledgeSource'> = {
  async prepare(request) {
    const source = await prepareSource(request);
    return async (context) => context.reply(201, sourceBody(await admitSource(context, source)));
  },
};

async function prepareSource(context: Context<'createKnowledgeSource'>): Promise<PreparedSource> {
  const { body, upload } = context;
  if (body) return prepareText(context, body);
  if (!upload) throw new Error('createKnowledgeSource got neither a body nor a form');
  const { file, fields } = upload;
  const { name, description = null } = fields.metadata ?? {};
  const { path, name: filename, sizeBytes, mediaType } = file;
  return prepareFile(context, { path, filename, sizeBytes, mediaType, name, description });
}
