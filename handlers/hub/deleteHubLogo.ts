import { dropLogo } from '../../domain/hubs/logos.ts';
import type { Handler } from '../handler.ts';
import { hubBody } from './hubBody.ts';

export const deleteHubLogo: Handler<'deleteHubLogo'> = async (context) =>
  context.reply(200, hubBody(await dropLogo(context, context.path.type), context.runtime));
