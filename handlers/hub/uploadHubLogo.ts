import { replaceLogo } from '../../domain/hubs/logos.ts';
import type { Handler } from '../handler.ts';
import { hubBody } from './hubBody.ts';

export const uploadHubLogo: Handler<'uploadHubLogo'> = async (context) => {
  const { path, upload, workspaceId, runtime, jobs, reply } = context;
  const hub = await replaceLogo(context, path.type, upload.file);
  const isBranding = path.type === 'horizontal' || path.type === 'icon';
  if (isBranding && hub.payment_mode === 'account') await jobs.send('sync-branding', { workspaceId });
  return reply(200, hubBody(hub, runtime));
};
