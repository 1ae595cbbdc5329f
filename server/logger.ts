import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * The log of a process, a JSON object a line. PostgreSQL's errors come without their `detail` and `where`: those quote rows, and so
 * prompts and messages.
 */
export function createLogger(level: string, destination: DestinationStream): Logger {
  return pino({ level, redact: { paths: ['err.detail', 'err.where'], remove: true } }, destination);
}
