import { replaceLogo } from '../../domain/hubs/logos.ts';
import type { Handler } from '../handler.ts';
import { hubBody } from './hubBody.ts';

export const uploadHubLogo: Handler<'uploadHubLogo'> = async (context) => {
  const { path, upload, runtime, reply } = context;
  return reply(200, hubBody(await replaceLogo(context, path.type, upload.file), runtime));
};
