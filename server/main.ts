import type { Server } from 'node:http';
import { pino } from 'pino';
import { systemClock } from '../core/clock.ts';
import { fault } from '../core/errors.ts';
import { connectDatabase, type Database } from '../db/connect.ts';
import { type EmbeddedPostgres, startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { ConfigError, readConfig } from './config.ts';
import { seedDemo } from './demo.ts';
import { createService, type Service } from './service.ts';

/** Running requests and streams have this long to finish after SIGTERM. */
const GRACE_MS = 15_000;
/** After the grace, what is left is told to end and has this long to say so. */
const LAST_WORDS_MS = 1_000;

interface Running {
  server: Server;
  service: Service;
  database: Database;
  embedded: EmbeddedPostgres | undefined;
}

const startedAt = performance.now();

async function start(): Promise<Running> {
  const config = readConfig(process.env);
  const logger = pino({ level: config.logLevel });
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded({ dataDir: config.dataDir, log: (line) => logger.warn({ postgres: line }, 'postgres') });
  const url = config.databaseUrl ?? embedded?.url() ?? '';
  await migrate(url, { log: (line) => logger.info(line) });
  const database = connectDatabase(url, {
    poolSize: config.poolSize,
    onConnectionError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const service = await createService({ config, database, clock: systemClock, logger });
  const demo = embedded ? await seedDemo(database, service.runtime, systemClock) : undefined;
  const server = await new Promise<Server>((resolve, reject) => {
    const listening = service.app.listen(config.port, config.host, (error) => (error ? reject(error) : resolve(listening)));
  });
  // A client behind a proxy reuses idle connections: outlive the proxy's own patience (60 s is usual).
  server.keepAliveTimeout = 65_000;
  service.setReady(true);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  if (demo) {
    process.stdout.write(`demo workspace ${demo.workspaceId}\ndemo agent ${demo.agentId}\ndemo key (shown once) ${demo.apiKey}\n`);
  }
  process.stdout.write(`ready http://${host}:${port}\n`);
  logger.info({ ms: Math.round(performance.now() - startedAt) }, 'ready');
  embedded?.onExit(() => {
    logger.fatal('the embedded PostgreSQL ended by itself');
    process.exit(1);
  });
  return { server, service, database, embedded };
}

/** Ends what runs, in the order that loses nothing; the process then has nothing left to live for. */
async function stop({ server, service, database, embedded }: Running): Promise<void> {
  service.setReady(false);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const { turns } = service.runtime;
  // A turn goes on when its client is gone, so an empty server is not the end of the work.
  const finished = Promise.all([closed, turns.idle()]);
  const grace = setTimeout(() => turns.abortAll(fault('UNAVAILABLE', 'The service is stopping. Send the message again.')), GRACE_MS);
  const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS + LAST_WORDS_MS);
  await finished;
  clearTimeout(grace);
  clearTimeout(cut);
  service.close();
  await database.end();
  await embedded?.stop();
}

try {
  const running = await start();
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      stop(running).then(
        () => process.exit(0),
        (error) => {
          process.stderr.write(`${Error.isError(error) ? error.stack : String(error)}\n`);
          process.exit(1);
        },
      );
    });
  }
} catch (error) {
  const known = error instanceof ConfigError || (Error.isError(error) && !(error instanceof TypeError));
  process.stderr.write(`${known ? (error as Error).message : Error.isError(error) ? error.stack : String(error)}\n`);
  process.exit(1);
}
