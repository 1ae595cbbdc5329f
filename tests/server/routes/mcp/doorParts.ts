import { pino } from 'pino';
import { Authenticator } from '../../../../server/api/auth.ts';
import { createRateLimiter } from '../../../../server/api/rateLimit.ts';
import { RequestTurns } from '../../../../server/api/requestTurns.ts';
import { UnreadAnswers } from '../../../../server/api/unread.ts';
import type { McpRouteParts } from '../../../../server/routes/mcp/routes.ts';
import type { TestApp } from '../../../support/http/app.ts';

/** What a door of its own over the data of a test application needs, without a limit and without a log. */
export function doorParts({ database, service, clock }: TestApp): McpRouteParts {
  return {
    runtime: service.runtime,
    authenticator: new Authenticator(database.database.keys, clock),
    mcpLimiter: createRateLimiter(0),
    requestTurns: new RequestTurns(),
    unread: new UnreadAnswers(),
    telemetry: { started: () => {}, finished: () => {}, registry: undefined as never },
    logger: pino({ level: 'silent' }),
    serving: () => true,
  };
}
