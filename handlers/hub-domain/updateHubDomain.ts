import { moveHub } from '../../domain/hubs/subdomain.ts';
import type { Handler } from '../handler.ts';
import { domainBody } from '../hub/hubBody.ts';

export const updateHubDomain: Handler<'updateHubDomain'> = async (context) =>
  context.reply(200, domainBody(await moveHub(context, context.body.subdomain), context.runtime));
