import { setTimeout as sleep } from 'node:timers/promises';
import { fault } from '../core/errors.ts';
import type { Database } from '../db/connect.ts';
import type { EmbeddedPostgres } from '../db/embedded.ts';
import type { HttpServer } from './httpServer.ts';
import type { Service } from './service.ts';
import type { StopSignals } from './stopSignals.ts';

/** Running requests and streams have this long to finish after the port is closed. */
const GRACE_MS = 15_000;
/** Then the remaining work is aborted, and has this long to send its last response. */
const ABORT_MS = 1_000;
/** Then the process ends, even if something still hangs: leases expire by themselves. */
const HARD_END_MS = 5_000;

/** A service that takes requests, with everything that has to be stopped. */
export interface RunningService {
  http: HttpServer;
  /** The port of `/metrics`, when it has one. */
  metrics: HttpServer | undefined;
  service: Service;
  database: Database;
  embedded: EmbeddedPostgres | undefined;
  /** How long requests are still served, so that load balancers can see that the service is not ready. */
  drainMs: number;
}

/** Stops everything in an order that loses no request and no work. The process then has nothing left to do. */
export async function stop(running: RunningService, { closePort, giveUp }: StopSignals): Promise<void> {
  const { http, metrics, service, database, embedded, drainMs } = running;
  service.drain();
  http.drain();
  if (!closePort.aborted) await sleep(drainMs, undefined, { signal: closePort }).catch(() => {});
  service.setReady(false);
  const { turns } = service.runtime;
  const jobs = service.queue.stop(GRACE_MS);
  const abort = () => {
    turns.abortAll(fault('UNAVAILABLE', 'The service is stopping. Send the message again.'));
    setTimeout(() => http.cut(), ABORT_MS).unref();
    setTimeout(() => process.exit(1), HARD_END_MS).unref();
  };
  const late = setTimeout(abort, GRACE_MS);
  giveUp.addEventListener('abort', abort);
  if (giveUp.aborted) abort();
  await http.close();
  await metrics?.close();
  // A turn continues when its client is gone: work may remain after the last connection is closed.
  await turns.idle();
  await jobs;
  clearTimeout(late);
  setTimeout(() => process.exit(1), HARD_END_MS).unref();
  // Last: turns use what it closes.
  await service.close();
  await database.end();
  await embedded?.stop();
}
