import { type DestinationStream, type Logger, pino } from 'pino';
import { refusalOf } from '../db/refusals.ts';

/** That the database takes no writes is said once in this time, whatever fails over it. */
const REFUSAL_MS = 60_000;

/**
 * The log of a process, a JSON object a line. PostgreSQL's errors come without their `detail` and `where`: those quote rows, and so
 * prompts and messages. While the database takes no writes, one line a minute says so instead of every line about an error that comes of it.
 */
export function createLogger(level: string, destination: DestinationStream): Logger {
  const said = new Map<string, number>();
  return pino(
    {
      level,
      redact: { paths: ['err.detail', 'err.where'], remove: true },
      hooks: {
        logMethod(args, method) {
          const [first] = args as [unknown];
          const error = typeof first === 'object' && first !== null ? (first as { err?: unknown }).err : undefined;
          const reason = refusalOf(error);
          if (reason === undefined) return method.apply(this, args);
          const now = performance.now();
          if (now - (said.get(reason) ?? Number.NEGATIVE_INFINITY) < REFUSAL_MS) return;
          said.set(reason, now);
          method.call(this, { reason: Error.isError(error) ? error.message : undefined }, `writes fail: ${reason}`);
        },
      },
    },
    destination,
  );
}
