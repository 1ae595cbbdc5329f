import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RawBuilder, sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import { spreadMs } from '../../domain/automations/schedule.ts';
import { publishedAgent, transcript } from '../http/messages/turns.ts';
import { agentWith, postTool, turnsOf } from '../support/agents/runtimeAgents.ts';
import { dispatchedRun, execution, swept } from '../support/automations/executions.ts';
import { resumeDue } from '../support/channels/inbox.ts';
import { startTestApp, type TestApp, TestClock } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { payCall } from '../support/turns/waitingCalls.ts';
import { cleanUp, freshFolder, type ServiceProcess, startService } from './service.ts';

jest.setTimeout(300_000); // processes are started, killed and started again

const MINUTE_MS = 60_000;

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let clock: TestClock;

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
  clock = new TestClock();
  app = await startTestApp({ models: server.settings(), clock, allowPrivateNetwork: true });
});
afterEach(async () => {
  await cleanUp();
  await app.close();
});

const countOf = async (rows: RawBuilder<unknown>) =>
  (await sql<{ count: number }>`select count(*) from ${rows}`.execute(app.workspace.db)).rows[0]?.count;

/** A process with background work over the database of `app`. */
async function startWorker(more: NodeJS.ProcessEnv = {}, command?: string[]): Promise<ServiceProcess> {
  const env = {
    DATABASE_URL: app.database.url,
    GUILDHALL_DATA_DIR: await freshFolder(),
    GUILDHALL_ROLE: 'worker',
    GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  };
  return startService({ ...env, ...more }, command);
}

describe('an execution whose process is killed', () => {
  /** Kills the process of the execution as soon as `reached`, and lets its lease end. */
  async function killed(agentId: string, reached: () => boolean) {
    const made = await dispatchedRun(app, agentId);
    const worker = await startWorker();
    await poll(reached, (is) => is);
    worker.child.kill('SIGKILL');
    await worker.ended;
    // Nobody takes it before.
    expect(await swept(app)).toEqual([]);
    await sql`update conversations set turn_expires_at = now() - interval '1 second'`.execute(app.workspace.db);
    expect(await swept(app)).toEqual([]);
    expect(await resumeDue(app)).toBe(1);
    expect(await swept(app)).toEqual([]);
    return made;
  }

  test('while the model is asked goes on, with its one message', async () => {
    server.script({ silence: true });
    const { executionId, conversationId } = await killed(await publishedAgent(app), () => server.requests.length === 1);
    expect(await execution(app, executionId)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
    expect(await transcript(app, conversationId)).toEqual([
      'user: Write the report.',
      'assistant: Hello from the model.',
    ]);
    expect((await turnsOf(app, conversationId)).map(({ status }) => status)).toEqual(['done']);
  });

  test('while a tool is called goes on: the tool is not called again, and the model is told that its outcome is not known', async () => {
    tools.on('/pay', () => {});
    server.script({ reply: '', toolCalls: [payCall('Oslo')] });
    const tool = await postTool(app, tools, '/pay');
    const agentId = await agentWith(app, [{ kind: 'http_tool', id: tool.publicId }]);
    const { executionId } = await killed(agentId, () => tools.received.length === 1);
    expect(await execution(app, executionId)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
    expect(tools.received).toHaveLength(1);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('Whether it was made is not known.');
  });
});

describe('three processes of which one after the other is killed', () => {
  const SPEED = 25;
  /** The clock goes on in steps of a second. */
  const STEP_MS = 1_000;
  const MINUTES = 5;
  /** Automations with one slot in these minutes, and some with a slot in each of them: 200 slots. */
  const SINGLE = 150;
  const MINUTELY = 10;
  const KILL_MS = 3_000;
  /** Where a process takes longer to start than it lives, nothing would ever be done. */
  const MAX_KILLS = 6;
  /** So long a model takes, so that a process which is killed has turns that run. */
  const MODEL_MS = 400;

  async function* slowReply() {
    await sleep(MODEL_MS);
    yield 'Done.';
  }

  test('run each of 200 slots exactly once', async () => {
    const agentId = await publishedAgent(app);
    server.fallback = {
      get reply() {
        return slowReply();
      },
    };
    // The whole minute after next, by the clock that the processes are told.
    const told = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    const first = told + 2 * MINUTE_MS;
    const minute = (place: number) => new Date(first + place * MINUTE_MS);
    const single = Array.from({ length: SINGLE }, (_, place) => {
      const slot = minute(place % MINUTES);
      return { id: newId(), slot, schedule: `${slot.getUTCMinutes()} ${slot.getUTCHours()} * * *`, slots: [slot] };
    });
    const minutely = Array.from({ length: MINUTELY }, () => ({
      id: newId(),
      slot: minute(0),
      schedule: '* * * * *',
      slots: Array.from({ length: MINUTES }, (_, place) => minute(place)),
    }));
    const all = [...single, ...minutely];
    await app.workspace.db
      .insertInto('automations')
      .values(
        all.map(({ id, slot, schedule }) => ({
          workspace_id: app.workspace.workspaceId,
          id,
          agent_id: agentId,
          name: id,
          prompt: `Slot of ${id}.`,
          hitl_mode: 'auto_approve',
          trigger_mode: 'schedule',
          schedule,
          timezone: 'UTC',
          next_run_at: slot,
          due_at: new Date(slot.getTime() + spreadMs(id)),
        })),
      )
      .execute();

    const file = `${await freshFolder()}.clock`;
    const env = { TEST_CLOCK_FILE: file };
    /** Sets the clock of all processes. They read the old time or the new one. */
    const tell = async (time: number) => {
      await writeFile(`${file}.new`, String(time));
      await rename(`${file}.new`, file);
    };
    await tell(told);
    const command = [process.execPath, '--import', join(import.meta.dirname, 'fastClock.ts'), 'server/main.ts'];
    const workers = await Promise.all(Array.from({ length: 3 }, () => startWorker(env, command)));
    // The time goes on while a process starts, however long that takes: at least three die while there are slots.
    const starting: Promise<unknown>[] = [];
    let kills = 0;
    const killing = setInterval(() => {
      if (kills === MAX_KILLS) return;
      const [victim] = workers.splice(Math.floor(Math.random() * workers.length), 1);
      if (!victim) return;
      victim.child.kill('SIGKILL');
      kills += 1;
      starting.push(startWorker(env, command).then((worker) => workers.push(worker)));
    }, KILL_MS);
    let time = told;
    for (; time <= first + (MINUTES + 1) * MINUTE_MS; time += STEP_MS) {
      await tell(time);
      await sleep(STEP_MS / SPEED);
      const place = (time + STEP_MS - first) / MINUTE_MS - 1;
      if (!Number.isInteger(place) || place < 0 || place >= MINUTES) continue;
      // With a slot of the next minute this one would be missed. Where no process runs, or all are slow, the clock waits for them.
      const minuteAt = minute(place);
      await poll(
        () => countOf(sql`automation_executions where slot = ${minuteAt}`),
        (count) => Number(count) >= SINGLE / MINUTES + MINUTELY,
      );
    }
    clearInterval(killing);
    await Promise.all(starting);
    expect(kills).toBeGreaterThan(2);
    // The leases of the dead end, and a process that starts looks for them.
    await poll(
      () => countOf(sql`conversations where turn_id is not null and turn_expires_at >= now()`),
      (count) => count === 0,
    );
    workers.push(await startWorker(env, command));

    const executions = await poll(
      async () => {
        // What lost its process is tried again later by the same clock.
        time += STEP_MS;
        await tell(time);
        return await app.workspace.db
          .selectFrom('automation_executions')
          .selectAll()
          .where('slot', '<', minute(MINUTES))
          .orderBy('slot')
          .execute();
      },
      (rows) => rows.length >= SINGLE + MINUTELY * MINUTES && rows.every(({ completed_at }) => completed_at !== null),
      180_000,
    );
    await Promise.all(
      workers.map((worker) => {
        worker.child.kill('SIGKILL');
        return worker.ended;
      }),
    );

    for (const { id, slots } of all) {
      const own = executions.filter(({ automation_id }) => automation_id === id);
      expect(own.map(({ slot }) => slot)).toEqual(slots);
    }
    // A slot a minute is skipped while the one before it runs: that one may have lost its process.
    const isSkip = (message: string | null) => message?.startsWith('Skipped: the execution before it had not ended.');
    const ids = new Set(single.map(({ id }) => id));
    for (const { automation_id, status, error_message } of executions) {
      if (ids.has(automation_id)) expect([status, error_message]).toEqual(['COMPLETED', null]);
      else expect(status === 'COMPLETED' || isSkip(error_message)).toBe(true);
    }
    // Each that was run has one message and one reply.
    const { rows } = await sql<{ roles: string[] }>`
      select array_agg(m.role order by m.seq) as roles from automation_executions e
      join messages m on m.workspace_id = e.workspace_id and m.conversation_id = e.conversation_id
      where e.slot < ${minute(MINUTES)} group by e.id`.execute(app.workspace.db);
    expect(rows).toHaveLength(executions.filter(({ status }) => status === 'COMPLETED').length);
    for (const { roles } of rows) expect(roles).toEqual(['user', 'assistant']);
  });
});
