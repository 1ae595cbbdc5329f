import { Agent, fetch as fetchOver } from 'undici';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { API_PREFIX } from '../../generated/operations.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';
import { installedPgBouncer, type RunningPgBouncer, startPgBouncer } from '../support/db/pgbouncer.ts';
import { cleanUp, expectPromptExit, freshFolder, type ServiceProcess, startService } from './service.ts';

/*
 * The service over a pooler that hands out connections by transaction. Where no PgBouncer is installed these tests are skipped, which
 * the run says; `.ci/run` installs one if it can.
 */
const executable = installedPgBouncer();
if (!executable) process.stderr.write('SKIPPED tests/faults/pooler: no pgbouncer is installed.\n');
const withPooler = executable ? describe : describe.skip;

const WORKSPACES = 50;
const REPLICAS = 3;
const REQUESTS = 10_000;
const AT_ONCE = 60;
/** As in docs/operating.md. */
const SERVER_CONNECTIONS = 20;
const TEST_MS = 240_000;

withPooler('PgBouncer in transaction mode', () => {
  let database: TestDatabase;
  let pooler: RunningPgBouncer;
  let workspaces: SeededWorkspace[];

  beforeAll(async () => {
    database = await createTestDatabase();
    pooler = await startPgBouncer(executable ?? '', database.url);
    workspaces = [];
    for (let i = 0; i < WORKSPACES; i += 1) workspaces.push(await database.seedWorkspace({ name: `W${i}` }));
  });
  afterAll(async () => {
    await cleanUp();
    await pooler.stop();
    await database.drop();
  });

  test(
    `${REPLICAS} replicas, ${REQUESTS} requests of ${WORKSPACES} workspaces: each sees its own rows`,
    async () => {
      const env = {
        DATABASE_URL: pooler.url,
        GUILDHALL_DATABASE_DIRECT_URL: database.url,
        GUILDHALL_DATABASE_PREPARE: String(pooler.keepsStatements),
        GUILDHALL_DATA_DIR: await freshFolder(),
        GUILDHALL_LOG_LEVEL: 'warn',
      };
      const replicas: ServiceProcess[] = [];
      for (let i = 0; i < REPLICAS; i += 1) replicas.push(await startService(env));
      const agent = new Agent({ connections: AT_ONCE });
      const call = async (n: number, apiKey: string, method: string, path: string, body?: object) => {
        const response = await fetchOver(`${replicas[n % REPLICAS]?.origin}${API_PREFIX}${path}`, {
          dispatcher: agent,
          method,
          headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
      };
      const ids: string[] = [];
      for (const [w, { apiKey }] of workspaces.entries()) {
        const { body } = await call(w, apiKey, 'POST', '/agents', { name: `Agent of ${w}` });
        ids.push(body.publicId);
      }
      const wrong: unknown[] = [];
      const expectIt = (is: boolean, seen: unknown) => {
        if (!is) wrong.push(seen);
      };
      const request = async (n: number) => {
        const w = (n * 7) % WORKSPACES;
        const apiKey = workspaces[w]?.apiKey ?? '';
        const kind = n % 10;
        if (kind < 4) {
          const answer = await call(n, apiKey, 'GET', `/agents/${ids[w]}`);
          expectIt(answer.status === 200 && answer.body.name === `Agent of ${w}`, answer);
        } else if (kind < 7) {
          const answer = await call(n, apiKey, 'GET', '/agents?limit=100');
          const names = answer.body.items?.map(({ name }: { name: string }) => name) ?? [];
          expectIt(answer.status === 200 && names.length === 1 && names[0] === `Agent of ${w}`, answer);
        } else if (kind < 9) {
          const answer = await call(n, apiKey, 'GET', `/agents/${ids[(w + 1 + (n % 48)) % WORKSPACES]}`);
          expectIt(answer.status === 404, answer);
        } else {
          // A transaction of several statements.
          const answer = await call(n, apiKey, 'PATCH', `/agents/${ids[w]}`, { systemPrompt: `Prompt ${n} of ${w}.` });
          expectIt(answer.status === 200 && answer.body.name === `Agent of ${w}`, answer);
        }
      };
      let next = 0;
      const work = async () => {
        while (next < REQUESTS) await request(next++);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      expect(wrong.slice(0, 3)).toEqual([]);

      const agents = await database.database.system.selectFrom('agents').select(['name', 'system_prompt']).execute();
      expect(agents).toHaveLength(WORKSPACES);
      for (const { name, system_prompt: prompt } of agents) {
        expect(prompt ?? ` of ${name.slice('Agent of '.length)}.`).toMatch(
          new RegExp(` of ${name.slice('Agent of '.length)}\\.$`),
        );
      }
      // The requests went through the pooler: 60 connections of the services share its 20. Besides them each service listens on one.
      const [row] = await adminQuery<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = '${database.name}' and application_name = 'guildhall'`,
      );
      expect(row?.count).toBeLessThanOrEqual(SERVER_CONNECTIONS + REPLICAS + 8);
      await agent.close();
      for (const replica of replicas) {
        expect(replica.output().stdout).not.toMatch(/"level":(40|50|60)/);
        replica.child.kill('SIGTERM');
      }
      for (const replica of replicas) await expectPromptExit(replica);
    },
    TEST_MS,
  );

  test('prepared statements that get lost are noticed, and no statement fails over it', async () => {
    let noticed = 0;
    const ways = Array.from({ length: REPLICAS }, () =>
      connectDatabase(pooler.url, { directUrl: database.url, onPreparedLost: () => (noticed += 1) }),
    );
    const outcomes = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const { workspaceId } = workspaces[n % 5] ?? { workspaceId: '' };
        const db = ways[n % REPLICAS]?.forWorkspace(workspaceId);
        if (!db) return undefined;
        if (n % 4 === 0)
          return await inTransaction(db, (inner) => inner.selectFrom('workspaces').select('id').execute());
        return await db.selectFrom('workspaces').select('id').where('name', '<>', newId()).execute();
      }),
    );
    for (const [n, rows] of outcomes.entries()) expect(rows).toEqual([{ id: workspaces[n % 5]?.workspaceId }]);
    expect(noticed > 0).toBe(!pooler.keepsStatements);
    await Promise.all(ways.map((way) => way.end()));
  });
});
