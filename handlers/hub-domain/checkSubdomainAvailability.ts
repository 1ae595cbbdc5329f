import { subdomainObstacle } from '../../domain/hubs/subdomain.ts';
import type { Handler } from '../handler.ts';

export const checkSubdomainAvailability: Handler<'checkSubdomainAvailability'> = async (context) => {
  const subdomain = context.query.subdomain.toLowerCase();
  const reason = await subdomainObstacle(context, subdomain);
  return context.reply(200, { subdomain, available: reason === null, reason });
};
