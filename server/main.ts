import type { Server } from 'node:http';
import { flushCompileCache } from 'node:module';
import { destination, type Logger } from 'pino';
import { systemClock } from '../core/clock.ts';
import { fault } from '../core/errors.ts';
import { connectDatabase, type Database } from '../db/connect.ts';
import { type EmbeddedPostgres, startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { handlers } from '../generated/handlers.ts';
import { answerClientError } from './api/clientError.ts';
import { type Contract, createContract } from './api/contract/contract.ts';
import { type Config, localOrigin, readConfig } from './config.ts';
import { seedDemo } from './demo.ts';
import { createLogger } from './logger.ts';
import { createService, type Service } from './service.ts';

/** Running requests and streams have this long to finish after SIGTERM. */
const GRACE_MS = 15_000;
/** A log line waits no longer than this to be written. */
const LOG_FLUSH_MS = 500;
/** After the grace period, the remaining work is aborted and has this long to send its last response. */
const ABORT_MS = 1_000;
const SWEEP_MS = 50;
/** Then the process ends, even if something still hangs: leases expire by themselves. */
const HARD_END_MS = 5_000;

interface RunningService {
  server: Server;
  /** How many answers are under way. */
  answering(): number;
  service: Service;
  database: Database;
  embedded: EmbeddedPostgres | undefined;
}

const startedAt = performance.now();

// Written in blocks: a system call for each request is a large part of the cost of a small request.
const logDestination = destination({ dest: 1, sync: false, minLength: 4096 });
setInterval(() => logDestination.flush(), LOG_FLUSH_MS).unref();
process.on('exit', () => logDestination.flushSync());

async function start(): Promise<RunningService> {
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel, logDestination);
  const starting = config.databaseUrl
    ? undefined
    : startEmbedded({ dataDir: config.dataDir, log: (line) => logger.warn({ postgres: line }, 'postgres') });
  // Side by side: PostgreSQL starts in processes of its own.
  const [embedded, contract] = await Promise.all([starting, createContract(handlers)]);
  const url = config.databaseUrl ?? embedded?.url() ?? '';
  try {
    return await serve(config, contract, logger, url, embedded);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function serve(
  config: Config,
  contract: Contract,
  logger: Logger,
  url: string,
  embedded: EmbeddedPostgres | undefined,
): Promise<RunningService> {
  await migrate(url, { log: (line) => logger.info(line) });
  const database = connectDatabase(url, {
    poolSize: config.poolSize,
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const service = await createService({ config, contract, database, databaseUrl: url, clock: systemClock, logger });
  // Before the demo workspace is made: a start that fails over its port must not use up the one time its key is shown.
  const server = await new Promise<Server>((resolve, reject) => {
    const listening = service.app.listen(config.port, config.host, (error) =>
      error ? reject(error) : resolve(listening),
    );
  });
  let answering = 0;
  server.on('request', (_request, response) => {
    answering += 1;
    response.once('close', () => {
      answering -= 1;
    });
  });
  server.on('clientError', answerClientError);
  // A client behind a proxy reuses idle connections: outlive the proxy's own patience (60 s is usual).
  server.keepAliveTimeout = 65_000;
  const demo = embedded ? await seedDemo(database, service.runtime, systemClock) : undefined;
  service.setReady(true);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = `http://${host}:${port}`;
  service.runtime.publicUrl = config.publicUrl ?? localOrigin(config.host, port);
  if (demo) {
    process.stdout.write(
      `demo workspace ${demo.workspaceId}\ndemo agent ${demo.agentId}\ndemo key (shown once) ${demo.apiKey}\n`,
    );
  }
  process.stdout.write(`ready ${origin}\n`);
  logger.info({ ms: Math.round(performance.now() - startedAt) }, 'ready');
  contract.warmUp().catch((error) => logger.error({ err: error }, 'the contract does not compile'));
  embedded?.onExit(() => {
    logger.fatal('the embedded PostgreSQL ended by itself');
    process.exit(1);
  });
  return { server, answering: () => answering, service, database, embedded };
}

/** Stops everything in an order that loses no work. The process then ends by itself. */
async function stop({ server, answering, service, database, embedded }: RunningService): Promise<void> {
  service.setReady(false);
  const { turns } = service.runtime;
  const jobs = service.queue.stop(GRACE_MS);
  const grace = setTimeout(
    () => turns.abortAll(fault('UNAVAILABLE', 'The service is stopping. Send the message again.')),
    GRACE_MS,
  );
  const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS + ABORT_MS);
  setTimeout(() => process.exit(1), GRACE_MS + HARD_END_MS).unref();
  // The server still listens meanwhile, so that probes and late requests get a 503.
  await turns.idle();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // An answer that ends now leaves its connection open for the next request; and to Node a connection that never sent one,
  // as browsers open them in advance, is not idle.
  const sweep = setInterval(() => {
    if (answering() === 0) server.closeAllConnections();
    else server.closeIdleConnections();
  }, SWEEP_MS);
  await closed;
  clearInterval(sweep);
  // A turn continues when its client is gone: work may remain after the last connection is closed.
  await turns.idle();
  clearTimeout(grace);
  clearTimeout(cut);
  await jobs;
  // Last: turns use what it closes.
  await service.close();
  await database.end();
  await embedded?.stop();
}

function fail(error: unknown): never {
  // Only our own faults are logged with a stack; an error that an operator can fix gets one line.
  const text = !Error.isError(error) ? String(error) : error instanceof TypeError ? error.stack : error.message;
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

const starting = start();
let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    // A signal during the start stops the service only after the start is complete: an interrupted start leaves more to clean up.
    starting.then(stop).then(() => process.exit(0), fail);
  });
}
starting.then(() => flushCompileCache(), fail);
