import { pino } from 'pino';
import type { JobContext, JobData } from '../../../jobs/jobs.ts';
import { sendFollowUp } from '../../../jobs/sendFollowUp.ts';
import type { AgentSetup } from '../../http/messages/turns.ts';
import { startTestApp, type TestApp, TestClock } from '../http/app.ts';
import type { ModelApp } from '../http/modelApp.ts';
import { type ModelServer, startModelServer } from '../servers/modelServer.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Follows up after two hours, then every ten minutes, three times. */
export const FOLLOWS_UP: AgentSetup = {
  followUpEnabled: true,
  followUpAfterHours: 2,
  followUpIntervalMinutes: 10,
  followUpMaxAttempts: 3,
  followUpPrompt: 'Ask whether the order came.',
};

/** What the queue gives to the job, in the service of `app`. */
export function contextOf({ database, service, clock }: TestApp): JobContext {
  return {
    database: database.database,
    runtime: service.runtime,
    clock,
    logger: pino({ level: 'silent' }),
    jobs: service.queue,
    signal: new AbortController().signal,
  };
}

/** The follow-ups that the queue would take up now. */
export const sweep = async (app: TestApp): Promise<JobData['send-follow-up'][]> =>
  (await sendFollowUp.sweep(contextOf(app))).due;

/** Runs one of them as the queue does. */
export async function run(app: TestApp, data: JobData['send-follow-up']): Promise<void> {
  await sendFollowUp.run(data, contextOf(app));
}

/** All that the queue would do now. */
export async function sendDue(app: TestApp): Promise<void> {
  for (const data of await sweep(app)) await run(app, data);
}

/** When the conversation's next follow-up is planned, and how many it has had. */
export async function planOf(
  { workspace }: TestApp,
  conversationId: string,
): Promise<{ at: Date | null; sent: number }> {
  return await workspace.db
    .selectFrom('conversations')
    .select(['follow_up_at as at', 'follow_ups_sent as sent'])
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
}

/** What `useFollowUpApp` started. Read it in hooks of each test and in tests: before them nothing is there yet. */
export interface FollowUpApp extends ModelApp {
  /** The clock of `app`. */
  readonly clock: TestClock;
}

/** Gives each test of a file a service and a clock of its own; one server answers for all their models. */
export function useFollowUpApp(): FollowUpApp {
  let server: ModelServer;
  let app: TestApp;
  let clock: TestClock;

  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    server.reset();
    clock = new TestClock();
    app = await startTestApp({ models: server.settings(), clock });
  });
  afterEach(() => app.close());

  return {
    get app() {
      return app;
    },
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
  };
}
