import type { Request, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { fault } from '../../core/errors.ts';

/** Counts requests by key. */
export interface RateLimiter {
  /** Counts one request; sets the `RateLimit` headers; throws RATE_LIMITED with `Retry-After` when over the limit. */
  take(apiKeyId: string, request: Request, response: Response): Promise<void> | void;
}

/** A window of one minute a key, counted in this process: with N replicas a key can reach N times its limit. */
export function createRateLimiter(requestsPerMinute: number): RateLimiter {
  if (requestsPerMinute === 0) return { take: () => {} };
  const limiter = rateLimit({
    windowMs: 60_000,
    limit: requestsPerMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: 'key',
    keyGenerator: (_request, response) => response.locals.apiKeyId as string,
    handler: (_request, _response, next) => next(fault('RATE_LIMITED')),
  });
  return {
    take(apiKeyId, request, response) {
      response.locals.apiKeyId = apiKeyId;
      return new Promise((resolve, reject) => {
        void limiter(request, response, (error?: unknown) => (error ? reject(error as Error) : resolve()));
      });
    },
  };
}
