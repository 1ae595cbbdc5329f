import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import supertest from 'supertest';
import type { Clock } from '../../../core/clock.ts';
import { handlers as everyHandler } from '../../../generated/handlers.ts';
import { API_PREFIX } from '../../../generated/operations.ts';
import type { Handlers } from '../../../handlers/handler.ts';
import { type ChannelSettings, channelSettingsFromEnv } from '../../../integrations/channels/settings.ts';
import type { PaymentSettings } from '../../../integrations/payments/settings.ts';
import type { ToolkitSettings } from '../../../integrations/toolkits/settings.ts';
import type { WebSearchSettings } from '../../../integrations/webSearch/settings.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { createContract } from '../../../server/api/contract/contract.ts';
import { createHttpServer } from '../../../server/httpServer.ts';
import { createService, type Service } from '../../../server/service.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../db/database.ts';
import { record } from '../run/coverage.ts';

/** One for all applications of a test file, as long as they have no handlers of their own: it holds nothing of theirs. */
const contract = createContract(everyHandler);

/** A clock that stands still until a test advances it. It starts at the machine's time, in whole milliseconds. */
export class TestClock implements Clock {
  #now = new Date();
  now(): Date {
    return new Date(this.#now);
  }
  advance(ms: number): void {
    this.#now = new Date(this.#now.getTime() + ms);
  }
}

/** What a test may set; the rest is as in production. */
export interface TestAppOptions {
  models?: ModelSettings;
  rateLimit?: number;
  allowPrivateNetwork?: boolean;
  toolkits?: ToolkitSettings;
  channels?: ChannelSettings;
  webSearch?: WebSearchSettings;
  payments?: PaymentSettings;
  /** `address:port` of the name servers; those of the machine when absent. */
  nameServers?: readonly string[];
  /** The domain of the hubs' subdomains; absent: they are at `/hub/<subdomain>`. */
  hubDomain?: string;
  handlers?: Handlers;
  /** Gets what the service logs; nobody does without it. */
  logger?: Logger;
  /** Runs background jobs too. Without it they are queued and stay so. */
  jobs?: boolean;
  /** Background turns at a time; default 64. */
  backgroundTurns?: number;
  clock?: Clock;
  /** Shares the database of another test application, as a second replica would. */
  database?: TestDatabase;
}

/** The service on a socket of its own, over a database of its own, with two workspaces. */
export interface TestApp {
  service: Service;
  database: TestDatabase;
  clock: Clock;
  /** The service's data folder: uploaded files are in `files`, requests' temporary ones in `tmp`. */
  dataDir: string;
  /** The environment for commands on the same data. */
  env: Record<string, string>;
  /** `http://127.0.0.1:port` */
  origin: string;
  /** The workspace that `api` speaks for. */
  workspace: SeededWorkspace;
  /** Another workspace, whose data must not exist for the first. */
  stranger: SeededWorkspace;
  /** A request to a path of the contract, such as `/agents`, with the workspace's key. */
  api(method: 'get' | 'post' | 'patch' | 'put' | 'delete', path: string, key?: string): supertest.Test;
  /** A request to any path, without a key. */
  raw: ReturnType<typeof supertest>;
  close(): Promise<void>;
}

/** Starts it: answers are checked against the document, and every outcome is counted for the coverage gate. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await createTestDatabase());
  const clock = options.clock ?? new TestClock();
  const secretKey = randomBytes(32);
  const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-data-'));
  const service = await createService({
    config: {
      dataDir,
      secretKeys: [secretKey],
      role: options.jobs ? 'all' : 'api',
      toolkits: options.toolkits ?? {},
      channels: options.channels ?? channelSettingsFromEnv({}),
      webSearch: options.webSearch ?? {},
      mail: { from: 'hub@guildhall.test' },
      payments: options.payments ?? { webhookSecrets: [] },
      nameServers: options.nameServers ?? [],
      trustedProxies: 0,
      storage: undefined,
      hubDomain: options.hubDomain,
      backgroundTurns: options.backgroundTurns ?? 64,
      keepStepsDays: 90,
      keepExecutionsDays: 90,
      rateLimit: options.rateLimit ?? 0,
      allowPrivateNetwork: options.allowPrivateNetwork ?? false,
      validateResponses: true,
      models: options.models ?? { retries: 0 },
    },
    contract: await (options.handlers ? createContract(options.handlers) : contract),
    database: database.database,
    databaseUrl: database.url,
    clock,
    logger: options.logger ?? pino({ level: 'silent' }),
    observe: record,
  });
  service.setReady(true);
  const http = createHttpServer();
  http.handle(service.app);
  const origin = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
  service.runtime.publicUrl = origin;
  const raw = supertest(origin);
  const workspace = await database.seedWorkspace();
  const stranger = await database.seedWorkspace();
  return {
    service,
    database,
    clock,
    dataDir,
    env: { DATABASE_URL: database.url, GUILDHALL_SECRETS_KEY: secretKey.toString('hex'), GUILDHALL_PUBLIC_URL: origin },
    origin,
    workspace,
    stranger,
    raw,
    api: (method, path, key = workspace.apiKey) => raw[method](API_PREFIX + path).set('X-Api-Key', key),
    async close() {
      const closed = http.close();
      http.cut();
      await closed;
      await service.close();
      await rm(dataDir, { recursive: true });
      if (!options.database) await database.drop();
    },
  };
}
