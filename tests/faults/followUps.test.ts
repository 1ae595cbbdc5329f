import { sql } from 'kysely';
import { begun, publishedAgent, transcript } from '../http/messages/turns.ts';
import { turnsOf } from '../support/agents/runtimeAgents.ts';
import { resumeDue } from '../support/channels/inbox.ts';
import { startTestApp, TestClock } from '../support/http/app.ts';
import { startModelServer } from '../support/servers/modelServer.ts';
import { FOLLOWS_UP, HOUR_MS, MINUTE_MS, planOf, sweep } from '../support/turns/followUps.ts';
import { cleanUp, freshFolder, startService } from './service.ts';

afterEach(cleanUp);

test('a follow-up whose process is killed while it asks the model goes on, and is sent once', async () => {
  const server = await startModelServer();
  const clock = new TestClock();
  const app = await startTestApp({ models: server.settings(), clock });
  const id = await begun(app, await publishedAgent(app, FOLLOWS_UP));
  const expire = (column: string) =>
    sql`update conversations set ${sql.ref(column)} = now() - interval '1 second' where id = ${id}`.execute(
      app.workspace.db,
    );
  await expire('follow_up_at');

  server.script({ silence: true });
  const worker = await startService({
    DATABASE_URL: app.database.url,
    GUILDHALL_DATA_DIR: await freshFolder(),
    GUILDHALL_ROLE: 'worker',
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  });
  await server.received(2);
  worker.child.kill('SIGKILL');
  await worker.ended;
  const { at, sent } = await planOf(app, id);
  expect(sent).toBe(0);
  expect(at?.getTime()).toBeGreaterThan(Date.now() + 10 * MINUTE_MS);

  clock.advance(HOUR_MS);
  expect(await sweep(app)).toEqual([]);
  // As after 20 seconds.
  await expire('turn_expires_at');
  expect(await sweep(app)).toEqual([]);
  expect(await resumeDue(app)).toBe(1);
  expect(await transcript(app, id)).toHaveLength(3);
  expect((await turnsOf(app, id)).map(({ kind, status }) => [kind, status])).toEqual([
    ['message', 'done'],
    ['follow_up', 'done'],
  ]);
  expect(await planOf(app, id)).toEqual({ at: new Date(clock.now().getTime() + 10 * MINUTE_MS), sent: 1 });
  await app.close();
  await server.close();
});
