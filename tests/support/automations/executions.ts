import { pino } from 'pino';
import { newId } from '../../../core/ids.ts';
import type { ExecutionRow } from '../../../db/queries/automations/executions.ts';
import { dispatchExecution, type ExecutionTrigger } from '../../../domain/automations/execute.ts';
import type { JobContext } from '../../../jobs/jobs.ts';
import { runAutomation } from '../../../jobs/runAutomation.ts';
import { publishedAgent } from '../../http/messages/turns.ts';
import { agentWith, postTool } from '../agents/runtimeAgents.ts';
import { startTestApp, type TestApp, TestClock } from '../http/app.ts';
import { type ModelServer, startModelServer } from '../servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../tools/httpTools.ts';

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

/** Stores an automation of the agent; it is due at `dueAt` if it has a schedule. Returns its id. */
export async function storedAutomation(
  { workspace }: Pick<TestApp, 'workspace'>,
  agentId: string,
  fields: {
    prompt?: string;
    hitlMode?: 'auto_approve' | 'pause_on_approval';
    schedule?: string;
    timezone?: string;
    nextRunAt?: Date;
    dueAt?: Date;
  } = {},
): Promise<string> {
  const id = newId();
  const { nextRunAt = null, dueAt = nextRunAt } = fields;
  await workspace.db
    .insertInto('automations')
    .values({
      workspace_id: workspace.workspaceId,
      id,
      agent_id: agentId,
      name: `Automation ${id}`,
      prompt: fields.prompt ?? 'Write the report.',
      hitl_mode: fields.hitlMode ?? 'pause_on_approval',
      trigger_mode: fields.schedule === undefined ? 'manual' : 'schedule',
      schedule: fields.schedule ?? null,
      timezone: fields.schedule === undefined ? null : (fields.timezone ?? 'UTC'),
      next_run_at: nextRunAt,
      due_at: dueAt,
    })
    .execute();
  return id;
}

/** Dispatches an execution as a person or a webhook does. Returns its id. */
export async function dispatched(
  { service, workspace, clock }: TestApp,
  automationId: string,
  trigger: Partial<ExecutionTrigger> = {},
): Promise<string> {
  const { workspaceId, db } = workspace;
  const context = { db, workspaceId, clock, runtime: service.runtime };
  const automation = { id: automationId };
  const { execution } = await dispatchExecution(context, { triggeredBy: 'manual', ...trigger, automation });
  return execution.id;
}

/** The ids of the executions that the queue would take up now. */
export async function swept(app: TestApp): Promise<string[]> {
  return (await runAutomation.sweep(contextOf(app))).due.map(({ executionId }) => executionId);
}

/** A new automation with an execution that is dispatched. */
export async function dispatchedRun(
  app: TestApp,
  agentId: string,
  fields: Parameters<typeof storedAutomation>[2] = {},
): Promise<{ id: string; executionId: string; conversationId: string }> {
  const id = await storedAutomation(app, agentId, fields);
  const executionId = await dispatched(app, id);
  const { conversation_id: conversationId } = await execution(app, executionId);
  return { id, executionId, conversationId };
}

/** Runs an execution as the queue does. */
export async function run(app: TestApp, executionId: string): Promise<void> {
  await runAutomation.run({ workspaceId: app.workspace.workspaceId, executionId }, contextOf(app));
}

/** An execution as it is stored. */
export async function execution({ workspace }: TestApp, id: string): Promise<ExecutionRow> {
  return await workspace.db
    .selectFrom('automation_executions')
    .selectAll()
    .where('workspace_id', '=', workspace.workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** What an automation shows of its runs. */
export async function automation({ workspace }: TestApp, id: string) {
  return await workspace.db
    .selectFrom('automations')
    .select(['status', 'inactive_reason', 'failures_in_row', 'last_run_at', 'last_run_status', 'next_run_at', 'due_at'])
    .where('workspace_id', '=', workspace.workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** What `useAutomationApp` started. Read it in hooks of each test and in tests: before them nothing is there yet. */
export interface AutomationApp {
  readonly app: TestApp;
  /** The clock of `app`. */
  readonly clock: TestClock;
  readonly server: ModelServer;
  readonly tools: ToolServer;
  /** A published agent without tools. */
  readonly agentId: string;
  /** A published agent whose tool `pay` needs an approval. */
  payer(): Promise<string>;
}

/** Gives each test of a file a service, a clock and an agent of its own; one server answers for all models, one for all tools. */
export function useAutomationApp(): AutomationApp {
  let server: ModelServer;
  let tools: ToolServer;
  let app: TestApp;
  let clock: TestClock;
  let agentId: string;

  beforeAll(async () => {
    server = await startModelServer();
    tools = await startToolServer();
  });
  afterAll(async () => {
    await tools.close();
    await server.close();
  });
  beforeEach(async () => {
    server.reset();
    tools.received.length = 0;
    tools.on('/pay', answering('{"paid":true}'));
    clock = new TestClock();
    app = await startTestApp({ models: server.settings(), clock, allowPrivateNetwork: true });
    agentId = await publishedAgent(app);
  });
  afterEach(() => app.close());

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
    get tools() {
      return tools;
    },
    get agentId() {
      return agentId;
    },
    async payer() {
      const tool = await postTool(app, tools, '/pay', { requiresApproval: true });
      return agentWith(app, [{ kind: 'http_tool', id: tool.publicId }]);
    },
  };
}
