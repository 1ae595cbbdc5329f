import { sql } from 'kysely';
import { inTransaction } from '../../db/transaction.ts';
import { grantCredits } from '../../domain/credits/credits.ts';
import { publishedAgent } from '../http/messages/turns.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { makePayingClient } from '../support/hub/payingClients.ts';
import { poll } from '../support/poll.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { call, cleanUp, freshFolder, type ServiceProcess, startService } from './service.ts';

let server: ModelServer;
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings() });
  agentId = await publishedAgent(app);
  await sql`update workspaces set turn_limit = 1000, request_limit = 1000 where id = ${app.workspace.workspaceId}`.execute(
    app.database.database.system,
  );
});
beforeEach(() => server.reset());
afterEach(cleanUp);
afterAll(async () => {
  await app.close();
  await server.close();
});

const startProcess = async (role: 'api' | 'worker'): Promise<ServiceProcess> =>
  startService({
    DATABASE_URL: app.database.url,
    GUILDHALL_DATA_DIR: await freshFolder(),
    GUILDHALL_ROLE: role,
    GUILDHALL_RATE_LIMIT: '0',
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  });
const ask = async ({ origin }: ServiceProcess, clientPublicId: string) => {
  const body = { content: 'Hi.', metadata: { clientPublicId } };
  const response = await call(origin, app.workspace.apiKey, 'POST', `/agents/${agentId}/messages`, body);
  const { code } = (await response.json()) as { code?: string };
  return code === undefined ? String(response.status) : `${response.status} ${code}`;
};
const account = async (clientId: string) =>
  await app.workspace.db
    .selectFrom('credit_accounts')
    .select(['included', 'reserved', 'used_this_period as used'])
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
const grantOne = (clientId: string) =>
  inTransaction(app.workspace.db, (trx) =>
    grantCredits(trx, {
      workspaceId: app.workspace.workspaceId,
      clientId,
      source: 'grant',
      amount: 1,
      expiresAt: null,
      key: 'one more',
      now: new Date(),
    }),
  );

test('of 200 messages that come at once to three processes for the last credit, one is answered, and nothing is left reserved', async () => {
  const clientId = await makePayingClient(app.workspace, { credits: 1 });
  const processes = await Promise.all([startProcess('api'), startProcess('api'), startProcess('api')]);
  const asked = Array.from({ length: 200 }, (_, each) => ask(processes[each % 3] as ServiceProcess, clientId));
  const answers = (await Promise.all(asked)).sort();
  expect(answers).toEqual(['200', ...Array(199).fill('429 OPERATION_LIMIT_REACHED')]);
  expect(server.requests).toHaveLength(1);
  expect(await account(clientId)).toEqual({ included: 0, reserved: 0, used: 1 });
  await grantOne(clientId);
  for (const [each, expected] of ['200', '429 OPERATION_LIMIT_REACHED'].entries())
    expect(await ask(processes[each + 1] as ServiceProcess, clientId)).toBe(expected);
  expect(await account(clientId)).toEqual({ included: 0, reserved: 0, used: 2 });
});

test('a turn whose process is killed goes on, and is charged the one credit that it had reserved', async () => {
  const clientId = await makePayingClient(app.workspace, { credits: 1 });
  const [first, second] = await Promise.all([startProcess('api'), startProcess('api')]);
  server.script({ silence: true });
  const lost = ask(first, clientId).catch(() => 'lost');
  await server.received(1);
  expect(await ask(second, clientId)).toBe('429 OPERATION_LIMIT_REACHED');
  first.child.kill('SIGKILL');
  expect(await lost).toBe('lost');
  expect(await account(clientId)).toEqual({ included: 1, reserved: 1, used: 0 });
  // Its 20 seconds are over.
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where client_id = ${clientId}`.execute(
    app.workspace.db,
  );
  await startProcess('worker');
  await poll(
    () => account(clientId),
    ({ reserved }) => reserved === 0,
  );
  expect(await account(clientId)).toEqual({ included: 0, reserved: 0, used: 1 });
  expect(await ask(second, clientId)).toBe('429 OPERATION_LIMIT_REACHED');
});
