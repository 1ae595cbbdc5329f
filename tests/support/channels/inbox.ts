import { pino } from 'pino';
import type { ChannelConnectionRow } from '../../../db/queries/channels/connections.ts';
import { sealChannelCredentials } from '../../../domain/channels/credentials.ts';
import { receiveEvents } from '../../../domain/channels/receive.ts';
import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import { answerInbound } from '../../../jobs/answerInbound.ts';
import { deliverMessage } from '../../../jobs/deliverMessage.ts';
import type { Job, JobContext, JobName, Jobs } from '../../../jobs/jobs.ts';
import { resumeDeadTurn } from '../../../jobs/resumeTurn.ts';
import { takeInbound } from '../../../jobs/takeInbound.ts';
import { type AgentSetup, publishedAgent } from '../../http/messages/turns.ts';
import { startTestApp, type TestApp, TestClock } from '../http/app.ts';
import { type ModelServer, startModelServer } from '../servers/modelServer.ts';
import { startWhatsappServer, type WhatsappServer } from '../servers/whatsappServer.ts';
import { startZApiServer, type ZApiServer } from '../servers/zApiServer.ts';
import { addConnection } from './events.ts';

/** Nothing is queued: tests look for what is due. */
const NO_JOBS: Jobs = { send: async () => {} };

/** What the queue gives to a job of the service. */
export function jobContextOf({ database, service, clock }: TestApp, jobs = NO_JOBS): JobContext {
  return {
    database: database.database,
    runtime: service.runtime,
    clock,
    jobs,
    logger: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  };
}

/** Runs all jobs of a kind that are due now. Returns how many. */
async function runDue<Name extends JobName>(app: TestApp, job: Job<Name>): Promise<number> {
  const context = jobContextOf(app);
  const { due } = await job.sweep(context);
  await Promise.all(due.map((data) => job.run(data, context)));
  return due.length;
}

/** Takes what was received. */
export const takeDue = (app: TestApp): Promise<number> => runDue(app, takeInbound);
/** Answers what was taken. */
export const answerDue = (app: TestApp): Promise<number> => runDue(app, answerInbound);
/** Sends what is on its way. */
export const deliverDue = (app: TestApp): Promise<number> => runDue(app, deliverMessage);

/** Goes on with the turns whose process died. */
export const resumeDue = (app: TestApp): Promise<number> => runDue(app, resumeDeadTurn);

/** Does all that is due now, as the queue would. */
export async function workInbox(app: TestApp): Promise<void> {
  await resumeDue(app);
  await takeDue(app);
  await answerDue(app);
  await deliverDue(app);
}

/** What `useInbox` started. Read it in hooks and tests: before them nothing is there yet. */
export interface Inbox {
  readonly app: TestApp;
  readonly clock: TestClock;
  readonly server: ModelServer;
  readonly zApi: ZApiServer;
  readonly whatsapp: WhatsappServer;
  /** An agent with a connection to Z-API. */
  connect(setup?: AgentSetup): Promise<ChannelConnectionRow>;
  /** Stores what a webhook of the connection says, now. */
  receive(connection: ChannelConnectionRow, ...events: InboundEvent[]): Promise<void>;
  /** What is stored of it, in the order in which it was sent. */
  inbound(connection: ChannelConnectionRow): Promise<Awaited<ReturnType<typeof inboundOf>>>;
  /** The conversations of the connection. */
  conversations(connection: ChannelConnectionRow): Promise<Awaited<ReturnType<typeof conversationsOfConnection>>>;
  deliveries(connection: ChannelConnectionRow): Promise<Awaited<ReturnType<typeof deliveriesOfConnection>>>;
}

const inboundOf = ({ workspace }: TestApp, { id }: ChannelConnectionRow) =>
  workspace.db
    .selectFrom('inbound_messages')
    .selectAll()
    .where('connection_id', '=', id)
    .orderBy('sent_at')
    .orderBy('received_at')
    .execute();

const conversationsOfConnection = ({ workspace }: TestApp, { id }: ChannelConnectionRow) =>
  workspace.db
    .selectFrom('conversations')
    .selectAll()
    .where('connection_id', '=', id)
    .where('deleted_at', 'is', null)
    .orderBy('started_at')
    .execute();

const deliveriesOfConnection = ({ workspace }: TestApp, { id }: ChannelConnectionRow) =>
  workspace.db.selectFrom('deliveries').selectAll().where('connection_id', '=', id).orderBy('id').execute();

/** Gives a test file a service with a clock of its own, a server for its models, and a Z-API. Nothing runs in the background. */
export function useInbox(): Inbox {
  let server: ModelServer;
  let zApi: ZApiServer;
  let whatsapp: WhatsappServer;
  let app: TestApp;
  let clock: TestClock;

  beforeAll(async () => {
    [server, zApi, whatsapp] = await Promise.all([startModelServer(), startZApiServer(), startWhatsappServer()]);
    clock = new TestClock();
    const channels = { zApiBaseUrl: zApi.baseUrl, whatsappBaseUrl: whatsapp.baseUrl };
    app = await startTestApp({ models: server.settings(), clock, channels, allowPrivateNetwork: true });
  });
  beforeEach(() => {
    server.reset();
    zApi.fault = undefined;
    zApi.messages.length = 0;
    whatsapp.messages.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([server.close(), zApi.close(), whatsapp.close()]);
  });

  return {
    get app() {
      return app;
    },
    get clock() {
      return clock;
    },
    get server() {
      return server;
    },
    get zApi() {
      return zApi;
    },
    get whatsapp() {
      return whatsapp;
    },
    async connect(setup = {}) {
      const agentId = await publishedAgent(app, setup);
      const { workspaceId, db } = app.workspace;
      const row = await addConnection(app.workspace, agentId, {
        config: JSON.stringify({ instanceId: zApi.instanceId }),
      });
      const { instanceToken, clientToken } = zApi;
      const { secrets } = app.service.runtime;
      const credentials = sealChannelCredentials(secrets, workspaceId, row.id, { instanceToken, clientToken });
      await db.updateTable('channel_connections').set({ credentials }).where('id', '=', row.id).execute();
      return { ...row, credentials };
    },
    async receive(connection, ...events) {
      await receiveEvents(app.workspace.db, connection, events, clock.now());
    },
    inbound: (connection) => inboundOf(app, connection),
    conversations: (connection) => conversationsOfConnection(app, connection),
    deliveries: (connection) => deliveriesOfConnection(app, connection),
  };
}
