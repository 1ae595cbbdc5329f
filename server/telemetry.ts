import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ApiError } from '../core/errors.ts';
import type { ChannelProblemCount } from '../db/queries/channels/health.ts';
import { refusalOf } from '../db/refusals.ts';
import type { JobLateness } from '../jobs/lateness.ts';

/** The facts about a request when its response has been sent. */
export interface RequestRecord {
  requestId: string;
  method: string;
  /** `unmatched` for a path outside the contract. */
  operationId: string;
  workspaceId: string | undefined;
  status: number;
  durationMs: number;
  error: ApiError | undefined;
}

/** Metrics of one process, and the line that each request leaves in the log. */
export interface Telemetry {
  readonly registry: Registry;
  started(): void;
  finished(record: RequestRecord): void;
}

/** What the metrics of the whole service are read with. None rejects, and none asks the database each time. */
export interface TelemetryReaders {
  readLateness(): Promise<JobLateness>;
  /** Undefined when they could not be read. */
  readChannelProblems(): Promise<readonly ChannelProblemCount[] | undefined>;
  /** Undefined before the first check in this process. */
  readLedgerDifferences(): number | undefined;
}

/**
 * Makes the metrics of a process. The functions of `readers` are called for each scrape. Paths and keys are never logged, since ids in paths are
 * data of the workspace.
 */
export function createTelemetry(logger: Logger, readers: TelemetryReaders): Telemetry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'guildhall_http_requests_total',
    help: 'API requests by operation and status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'guildhall_http_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by operation.',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [registry],
  });
  const running = new Gauge({
    name: 'guildhall_http_requests_running',
    help: 'API requests that are being answered.',
    registers: [registry],
  });
  new Gauge({
    name: 'guildhall_jobs_oldest_due_seconds',
    help: 'How long the oldest due work of a job has been waiting, in all workspaces; 0 = none is due.',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const lateness = await readers.readLateness();
      // A job whose lateness is not known has no sample: an old one would look like a fact.
      this.reset();
      for (const [job, seconds] of lateness) this.set({ job }, seconds);
    },
  });
  new Gauge({
    name: 'guildhall_channel_problems',
    help: 'Channel connections of all workspaces whose account at the provider has a problem, by channel type and problem.',
    labelNames: ['channel', 'problem'],
    registers: [registry],
    async collect() {
      const problems = await readers.readChannelProblems();
      this.reset();
      for (const { channel_type: channel, problem_code: problem, connections } of problems ?? [])
        this.set({ channel, problem }, connections);
    },
  });
  new Gauge({
    name: 'guildhall_ledger_differences',
    help: 'Balances and lots of credits that are not what their entries add up to, as the latest check in this process found; at most 100 of a workspace.',
    registers: [registry],
    collect() {
      const differences = readers.readLedgerDifferences();
      this.reset();
      // A process that has not checked has no sample: 0 would look like a fact.
      if (differences === undefined) this.remove();
      else this.set(differences);
    },
  });
  return {
    registry,
    started: () => running.inc(),
    finished(record) {
      running.dec();
      requests.inc({ operation: record.operationId, status: record.status });
      durations.observe({ operation: record.operationId }, record.durationMs / 1000);
      const { error, ...line } = record;
      // A fault of ours carries its stack. That a provider failed or the service is stopping is known without one.
      if (error?.status === 500)
        logger.error({ ...line, code: error.code, err: error.cause ?? error }, 'request failed');
      else if (error && refusalOf(error.cause) !== undefined) {
        logger.error({ err: error.cause }, 'request failed'); // The log says it once a minute.
        logger.info({ ...line, code: error.code }, 'request');
      } else if (error && error.status > 501)
        logger.warn({ ...line, code: error.code, reason: reasonOf(error) }, 'request failed');
      else logger.info(error ? { ...line, code: error.code } : line, 'request');
    },
  };
}

/** The text for the operator. For errors of the database and the storage it says more than the response. */
function reasonOf({ code, message, cause }: ApiError): string {
  return code === 'UNAVAILABLE' && Error.isError(cause) ? cause.message : message;
}
