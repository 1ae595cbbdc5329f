import { flushCompileCache } from 'node:module';
import { destination, type Logger } from 'pino';
import { systemClock } from '../core/clock.ts';
import { connectDatabase } from '../db/connect.ts';
import { type EmbeddedPostgres, startEmbedded } from '../db/embedded.ts';
import { databaseFault } from '../db/errors.ts';
import { migrate } from '../db/migrate.ts';
import { reasonOf, whenReachable } from '../db/reachable.ts';
import { handlers } from '../generated/handlers.ts';
import { type Contract, createContract } from './api/contract/contract.ts';
import { type Config, localOrigin, readConfig } from './config.ts';
import { seedDemo } from './demo.ts';
import { createHttpServer } from './httpServer.ts';
import { createLogger } from './logger.ts';
import { createService } from './service.ts';
import { addressOf, listenError, type Setting, startError } from './startError.ts';
import { type RunningService, stop } from './stop.ts';
import { listenForStopSignals } from './stopSignals.ts';

/** A log line waits no longer than this to be written. */
const LOG_FLUSH_MS = 500;

// Everything that the service writes is for its user alone, whatever mask it was started with.
process.umask(0o077);
const startedAt = performance.now();
const signals = listenForStopSignals();

// Written in blocks: a system call for each request is a large part of the cost of a small request.
const logDestination = destination({ dest: 1, sync: false, minLength: 4096 });
setInterval(() => logDestination.flush(), LOG_FLUSH_MS).unref();
process.on('exit', () => logDestination.flushSync());

async function start(): Promise<RunningService> {
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel, logDestination);
  // First of all: a start that fails over its port must not migrate anything, take jobs, or use up the one time the demo key is shown.
  const http = createHttpServer();
  const port = await http.listen(config.port, config.host).catch((error: unknown) => {
    throw listenError(config, error);
  });
  const metrics = await openMetricsPort(config);
  const starting = config.databaseUrl
    ? undefined
    : startEmbedded({ dataDir: config.dataDir, log: (line) => logger.warn({ postgres: line }, 'postgres') });
  // Side by side: PostgreSQL starts in processes of its own.
  const [embedded, contract] = await Promise.all([
    starting?.catch((error: unknown) => {
      throw startError(`GUILDHALL_DATA_DIR ${config.dataDir}`, error);
    }),
    createContract(handlers, { checksResponses: config.validateResponses }),
  ]);
  try {
    return await serve({ config, contract, logger, embedded, http, metrics, port });
  } catch (error) {
    await embedded?.stop();
    throw databaseFault(error) ? startError(databaseSettings(config).pooled, error) : error;
  }
}

/** Opens the port of `/metrics`, if it has one of its own. */
async function openMetricsPort({ metricsPort, host }: Config): Promise<RunningService['metrics']> {
  if (metricsPort === undefined) return undefined;
  const http = createHttpServer();
  await http.listen(metricsPort, host).catch((error: unknown) => {
    throw startError(`GUILDHALL_METRICS_PORT ${metricsPort}`, error);
  });
  return http;
}

interface Started {
  config: Config;
  contract: Contract;
  logger: Logger;
  embedded: EmbeddedPostgres | undefined;
  http: RunningService['http'];
  metrics: RunningService['metrics'];
  port: number;
}

async function serve({ config, contract, logger, embedded, http, metrics, port }: Started): Promise<RunningService> {
  const url = config.databaseUrl ?? embedded?.url() ?? '';
  const directUrl = config.databaseDirectUrl ?? url;
  const settings = databaseSettings(config);
  const wait = waiter(config, logger);
  await wait(settings.direct, () => migrate(directUrl, { log: (line) => logger.info(line) }));
  const database = connectDatabase(url, {
    directUrl,
    poolSize: config.poolSize,
    prepare: config.databasePrepare,
    citus: config.databaseCitus,
    onPreparedLost: () =>
      logger.warn('the pooler loses prepared statements, so none are used: set GUILDHALL_DATABASE_PREPARE=false'),
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  if (settings.pooled !== settings.direct) await wait(settings.pooled, () => database.ping());
  const service = await createService({
    config,
    contract,
    database,
    databaseUrl: directUrl,
    clock: systemClock,
    logger,
  });
  http.handle(service.app);
  metrics?.handle(service.metricsApp);
  const demo = embedded ? await seedDemo(database, service.runtime, systemClock) : undefined;
  service.runtime.publicUrl = config.publicUrl ?? localOrigin(config.host, port);
  service.setReady(true);
  if (demo) {
    process.stdout.write(
      `demo workspace ${demo.workspaceId}\ndemo agent ${demo.agentId}\ndemo key (shown once) ${demo.apiKey}\n` +
        `demo chat ${service.runtime.publicUrl}/chat/${demo.chatId}\n`,
    );
  }
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  process.stdout.write(`ready http://${host}:${port}\n`);
  logger.info({ ms: Math.round(performance.now() - startedAt) }, 'ready');
  contract.warmUp().catch((error) => logger.error({ err: error }, 'the contract does not compile'));
  embedded?.onExit((reason) =>
    fail(new Error(`GUILDHALL_DATA_DIR ${config.dataDir} has a PostgreSQL that does not stay up: ${reason}`)),
  );
  // Nobody sends requests to a worker: there is nothing to wait for.
  const drainMs = config.role === 'worker' ? 0 : config.drainSeconds * 1000;
  return { http, metrics, service, database, embedded, drainMs };
}

/** Returns a function that does something with the database that a setting names, as soon as that can be reached. */
function waiter({ databaseWaitSeconds }: Config, logger: Logger) {
  return async (setting: Setting, work: () => Promise<unknown>): Promise<void> => {
    try {
      await whenReachable(work, {
        timeoutMs: databaseWaitSeconds * 1000,
        waiting: (reason) => logger.warn(`${setting} does not answer, and is waited for: ${reason}`),
        signal: signals.stop,
      });
    } catch (error) {
      throw signals.stop.aborted ? error : startError(setting, error);
    }
  };
}

/** The settings that say where the database is, without a password: for the migrations, and for everything else. */
function databaseSettings({ databaseUrl, databaseDirectUrl, dataDir }: Config): { direct: Setting; pooled: Setting } {
  const pooled: Setting = databaseUrl ? `DATABASE_URL ${addressOf(databaseUrl)}` : `GUILDHALL_DATA_DIR ${dataDir}`;
  const direct: Setting = databaseDirectUrl ? `GUILDHALL_DATABASE_DIRECT_URL ${addressOf(databaseDirectUrl)}` : pooled;
  return { direct, pooled };
}

function fail(error: unknown): never {
  // Only our own faults are logged with a stack; an error that an operator can fix gets one line.
  const text = error instanceof TypeError ? error.stack : reasonOf(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** Resolves when the service has been asked to stop, and settles at once when it already has been. */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    if (signals.stop.aborted) resolve();
    else signals.stop.addEventListener('abort', () => resolve());
  });
}

const starting = start();
starting
  .then(
    async (running) => {
      flushCompileCache();
      // A signal during the start, unless it waits, stops the service only after the start is complete: an interrupted start leaves more to
      // clean up. Nobody knows of such a service yet.
      const drainMs = signals.stop.aborted ? 0 : running.drainMs;
      await stopRequested();
      await stop({ ...running, drainMs }, signals);
      process.exit(0);
    },
    (error) => (signals.stop.aborted && error === signals.stop.reason ? process.exit(0) : fail(error)),
  )
  .catch(fail);
