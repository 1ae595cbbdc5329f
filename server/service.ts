import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../db/connect.ts';
import { API_KEY_REVOKED } from '../db/queries/apiKeys.ts';
import { handlers as everyHandler } from '../generated/handlers.ts';
import type { Handlers } from '../handlers/handler.ts';
import { Runtime } from '../runtime/runtime.ts';
import { type AppParts, createApp } from './app.ts';
import { Authenticator } from './auth.ts';
import type { Config } from './config.ts';
import type { Contract } from './contract.ts';
import { createRateLimiter } from './rateLimit.ts';
import { createTelemetry } from './telemetry.ts';

/** The service over a database, without a socket of its own. */
export interface Service {
  app: Express;
  runtime: Runtime;
  /** While false, operations answer 503 and `/readyz` says so. */
  setReady(ready: boolean): void;
  /** Stops listening for revoked keys. */
  close(): void;
}

/** What a service is made of; the optional parts are for tests. */
export interface ServiceOptions {
  config: Pick<Config, 'rateLimit' | 'allowPrivateNetwork' | 'validateResponses' | 'models'>;
  contract: Contract;
  database: Database;
  clock: Clock;
  logger: Logger;
  handlers?: Handlers;
  observe?: AppParts['observe'];
}

/** Puts the service together. It takes no requests until `setReady(true)`. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, contract, database, clock, logger } = options;
  const runtime = new Runtime({
    models: config.models,
    allowPrivateNetwork: config.allowPrivateNetwork,
    clock,
    system: database.system,
  });
  const authenticator = new Authenticator(database.system, clock);
  let ready = false;
  const app = createApp({
    contract,
    handlers: options.handlers ?? everyHandler,
    authenticator,
    rateLimiter: createRateLimiter(config.rateLimit),
    forWorkspace: database.forWorkspace,
    runtime,
    clock,
    logger,
    telemetry: createTelemetry(logger),
    ready: () => ready,
    ping: () =>
      database.ping().then(
        () => true,
        () => false,
      ),
    validateResponses: config.validateResponses,
    ...(options.observe ? { observe: options.observe } : {}),
  });
  const unlisten = await database.listen(
    API_KEY_REVOKED,
    (id) => authenticator.forget(id),
    () => authenticator.forget(),
  );
  return {
    app,
    runtime,
    setReady: (value) => {
      ready = value;
    },
    close: unlisten,
  };
}
