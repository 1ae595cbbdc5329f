import type { Request, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { fault } from '../../core/errors.ts';

/** Counts requests by key. */
export interface RateLimiter {
  /** Counts one request; sets the `RateLimit` headers; throws RATE_LIMITED with `Retry-After` when over the limit. */
  take(key: string, request: Request, response: Response): Promise<void> | void;
}

/** By what requests are counted, for the `RateLimit` headers and for the error. */
export interface RateLimitNames {
  /** The policy's name. */
  policy: string;
  message: string;
}

const BY_KEY: RateLimitNames = { policy: 'key', message: 'Too many requests with this key. Wait and try again.' };

/** A window of one minute a key, counted in this process: with N replicas a key can reach N times its limit. 0 = no limit. */
export function createRateLimiter(
  requestsPerMinute: number,
  { policy, message }: RateLimitNames = BY_KEY,
): RateLimiter {
  if (requestsPerMinute === 0) return { take: () => {} };
  const limiter = rateLimit({
    windowMs: 60_000,
    limit: requestsPerMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: policy,
    keyGenerator: (_request, response) => response.locals.rateLimitKey as string,
    handler: (_request, _response, next) => next(fault('RATE_LIMITED', message)),
  });
  return {
    take(key, request, response) {
      response.locals.rateLimitKey = key;
      return new Promise((resolve, reject) => {
        void limiter(request, response, (error?: unknown) => (error ? reject(error as Error) : resolve()));
      });
    },
  };
}
