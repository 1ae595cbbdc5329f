import { changeAccess } from '../../domain/hubs/changeAccess.ts';
import type { Handler } from '../handler.ts';
import { accessBody } from '../hub/hubBody.ts';

export const updateHubAccess: Handler<'updateHubAccess'> = async (context) =>
  context.reply(200, accessBody(await changeAccess(context, context.body), context.runtime));
