import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';
import { systemNames } from '../core/outgoing/names.ts';
import { SecretBox } from '../core/secrets.ts';
import { removeLeftovers } from '../core/temporary.ts';
import type { Database } from '../db/connect.ts';
import {
  apiKeyAdded,
  apiKeyRevoked,
  approvalDecided,
  executionDispatched,
  inboundStored,
  jobQueued,
  mailQueued,
  slotPlanned,
  subscribe,
} from '../db/events.ts';
import { findNextSlotTime } from '../db/queries/automations/slots.ts';
import { addStepPartitions } from '../db/queries/turns/stepPartitions.ts';
import { refusalOf } from '../db/refusals.ts';
import { dispatchSlots } from '../domain/automations/dispatchSlots.ts';
import { ServerToolLists } from '../domain/externalMcps/serverToolLists.ts';
import { mailSenderOf } from '../integrations/mail/mailSender.ts';
import { draftsOf, folderStore } from '../integrations/storage/folder.ts';
import { s3Store } from '../integrations/storage/s3.ts';
import { Toolkits } from '../integrations/toolkits/toolkits.ts';
import { createChannelProblemReader } from '../jobs/channelProblems.ts';
import { everyJob, poolPlaces } from '../jobs/everyJob.ts';
import { createLatenessReader } from '../jobs/lateness.ts';
import type { LedgerWatch } from '../jobs/ledgerUpkeep.ts';
import { type Queue, startQueue } from '../jobs/queue.ts';
import { startSlotBeat } from '../jobs/slotBeat.ts';
import { everyUpkeep } from '../jobs/upkeep.ts';
import { HubNames } from '../runtime/hubs/hubNames.ts';
import { watchServerWindows } from '../runtime/models/serverWindows.ts';
import { Runtime } from '../runtime/runtime.ts';
import { Authenticator } from './api/auth.ts';
import type { Contract } from './api/contract/contract.ts';
import { HeldClaims } from './api/idempotency/claims.ts';
import { ProgressReader } from './api/idempotency/progress.ts';
import { createRateLimiter } from './api/rateLimit.ts';
import { RequestTurns } from './api/requestTurns.ts';
import { UnderWay } from './api/underWay.ts';
import { UnreadAnswers } from './api/unread.ts';
import { type AppParts, createApp, createMetricsApp } from './app.ts';
import type { Config } from './config.ts';
import { ChatLimits } from './routes/chat/limits.ts';
import { ChatStreams } from './routes/chat/streams.ts';
import { AddressBook } from './routes/hooks/addressBook.ts';
import { HubDirectory } from './routes/hub/directory.ts';
import { HubLimits } from './routes/hub/limits.ts';
import { secretKeysFor } from './secretKeys.ts';
import { createTelemetry } from './telemetry.ts';

/** Interval at which the files that killed processes left are removed. */
const TIDY_MS = 60 * 60 * 1000;

/** The service over a database, without a socket of its own. */
export interface Service {
  app: Express;
  /** What a port of its own for `/metrics` serves. */
  metricsApp: Express;
  runtime: Runtime;
  queue: Queue;
  /** While false, operations answer 503 and `/readyz` says so. */
  setReady(ready: boolean): void;
  /** From now on `/readyz` says no, and requests are served all the same: load balancers need a moment to see it. */
  drain(): void;
  /** Closes everything that the service holds open. Aborts background work that still runs: call `queue.stop` first to let it finish. */
  close(): Promise<void>;
}

/** The parts of a service; the optional ones are for tests. */
export interface ServiceOptions {
  config: Omit<
    Config,
    | 'host'
    | 'port'
    | 'databaseUrl'
    | 'databaseDirectUrl'
    | 'databasePrepare'
    | 'databaseCitus'
    | 'databaseWaitSeconds'
    | 'drainSeconds'
    | 'poolSize'
    | 'logLevel'
  >;
  contract: Contract;
  database: Database;
  /** Where the database is, for the login that owns its tables. */
  databaseUrl: string;
  clock: Clock;
  logger: Logger;
  observe?: AppParts['observe'];
}

/** Puts the service together. It takes no requests until `setReady(true)`. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, contract, database, databaseUrl, clock, logger } = options;
  const { allowPrivateNetwork, dataDir } = config;
  systemNames.useServers(config.nameServers);
  const temporaryDir = resolve(dataDir, 'tmp');
  const secretKeys = secretKeysFor(config.secretKeys, dataDir);
  const filesDir = join(dataDir, 'files');
  // Earlier releases left this folder open to every user of the machine.
  await chmod(filesDir, 0o700).catch(() => undefined);
  const tidy = () => Promise.all([temporaryDir, draftsOf(filesDir)].map(removeLeftovers));
  await tidy();
  const tidying = setInterval(tidy, TIDY_MS).unref();
  const runtime = new Runtime({
    models: config.models,
    allowPrivateNetwork,
    clock,
    secrets: new SecretBox(secretKeys.load),
    files: config.storage ? s3Store(config.storage) : folderStore(filesDir),
    temporaryDir,
    toolkits: new Toolkits({ ...config.toolkits, allowPrivateNetwork }),
    webSearch: config.webSearch,
    payments: config.payments,
    channels: { ...config.channels, allowPrivateNetwork, clock },
    mail: mailSenderOf(config.mail, join(dataDir, 'mails')),
    hubDomain: config.hubDomain,
    hubNames: new HubNames(database.keys, clock),
    system: database.system,
    logger,
  });
  const endWindows = watchServerWindows(config.models);
  // After a long stop, too, before the first turn needs them.
  await addStepPartitions(database.system, new Date());
  // The queue takes a tenth of a second to load, and no job is in a hurry at the start.
  const firstReady = Promise.withResolvers<void>();
  const ledger: LedgerWatch = { differences: undefined };
  const queue = startQueue({
    connection: database.queueConfig,
    jobs: everyJob,
    upkeep: everyUpkeep(
      { url: databaseUrl, days: config.keepStepsDays },
      config.keepExecutionsDays,
      runtime.files,
      ledger,
    ),
    work: config.role !== 'api',
    begin: firstReady.promise,
    places: poolPlaces(config.backgroundTurns),
    context: { database, runtime, clock, logger },
    beforeStop: () => slots?.stop(),
  });
  const slots =
    config.role === 'api'
      ? undefined
      : startSlotBeat({
          begin: firstReady.promise,
          dispatch: (signal) =>
            dispatchSlots(
              { database, clock, dispatched: (executions) => queue.sendAll('run-automation', executions) },
              signal,
            ),
          nextDue: (horizon) => findNextSlotTime(database.system, horizon),
          clock,
          logger,
        });
  const toolLists = new ServerToolLists({ runtime, forWorkspace: database.forWorkspace, logger });
  runtime.mcp.lists = toolLists;
  runtime.onDeliveries = (workspaceId, conversationId) =>
    void queue.send('deliver-message', { workspaceId, conversationId });
  const authenticator = new Authenticator(database.keys, clock);
  let ready = false;
  let serving = false;
  const telemetry = createTelemetry(logger, {
    readLateness: createLatenessReader({ jobs: everyJob, context: { database, clock, logger } }),
    readChannelProblems: createChannelProblemReader({ database, logger }),
    readLedgerDifferences: () => ledger.differences,
  });
  const chatStreams = new ChatStreams({ database, clock, logger });
  const app = createApp({
    contract,
    authenticator,
    rateLimiter: createRateLimiter(config.rateLimit),
    mcpLimiter: createRateLimiter(config.rateLimit),
    underWay: new UnderWay(),
    unread: new UnreadAnswers(),
    requestTurns: new RequestTurns(),
    addresses: new AddressBook(database.keys, clock),
    system: database.system,
    hubDirectory: new HubDirectory(database.keys, clock),
    hubLimits: new HubLimits(clock),
    chatLimits: new ChatLimits(clock),
    chatStreams,
    trustedProxies: config.trustedProxies,
    forWorkspace: database.forWorkspace,
    claims: new HeldClaims(database.system),
    attempts: new Map(),
    progress: new ProgressReader(database.system),
    runtime,
    jobs: queue,
    servesApi: config.role !== 'worker',
    hasMetricsPort: config.metricsPort !== undefined,
    uploadDir: temporaryDir,
    clock,
    logger,
    telemetry,
    ready: () => ready,
    serving: () => serving,
    ping: () =>
      database.ping().then(
        () => undefined,
        (error: unknown) => refusalOf(error) ?? 'the database does not answer',
      ),
    validateResponses: config.validateResponses,
    ...(options.observe ? { observe: options.observe } : {}),
  });
  const unsubscribeKeys = await subscribe(database, apiKeyRevoked, {
    received: ({ apiKeyId }) => authenticator.forget(apiKeyId),
    missed: () => authenticator.forget(),
    logger,
  });
  const unsubscribeNewKeys = await subscribe(database, apiKeyAdded, {
    received: () => authenticator.forgetUnknown(),
    missed: () => authenticator.forgetUnknown(),
    logger,
  });
  const unsubscribeApprovals = await subscribe(database, approvalDecided, {
    received: (decision) => void queue.send('continue-conversation', decision),
    missed: () => queue.sweep('continue-conversation'),
    logger,
  });
  const unsubscribeExecutions = await subscribe(database, executionDispatched, {
    received: (execution) => void queue.send('run-automation', execution),
    missed: () => queue.sweep('run-automation'),
    logger,
  });
  const unsubscribeMails = await subscribe(database, mailQueued, {
    received: (mail) => void queue.send('send-mail', mail),
    missed: () => queue.sweep('send-mail'),
    logger,
  });
  const unsubscribeSlots = await subscribe(database, slotPlanned, {
    received: ({ dueAt }) => slots?.planned(dueAt),
    missed: () => slots?.look(),
    logger,
  });
  const unsubscribeChats = await chatStreams.listen();
  const unsubscribeInbound = await subscribe(database, inboundStored, {
    received: ({ conversationId }) => runtime.turns.replace(conversationId),
    // The end of the turn finds what came.
    missed: () => {},
    logger,
  });
  const unsubscribeJobs = await subscribe(database, jobQueued, {
    received: ({ queue: name }) => queue.wake(name),
    missed: () => queue.wake(),
    logger,
  });
  return {
    app,
    metricsApp: createMetricsApp({ telemetry, logger }),
    runtime,
    queue,
    setReady: (value) => {
      ready = value;
      serving = value;
      if (value) firstReady.resolve();
    },
    drain() {
      ready = false;
      // They would last. Their clients come again, to another process.
      chatStreams.end();
    },
    async close() {
      clearInterval(tidying);
      endWindows();
      unsubscribeKeys();
      unsubscribeNewKeys();
      unsubscribeApprovals();
      unsubscribeInbound();
      unsubscribeJobs();
      unsubscribeSlots();
      unsubscribeMails();
      unsubscribeChats();
      chatStreams.end();
      unsubscribeExecutions();
      await queue.stop(0);
      await toolLists.close();
      await runtime.close();
    },
  };
}
