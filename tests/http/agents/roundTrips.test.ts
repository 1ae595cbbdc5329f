import { connectDatabase } from '../../../db/connect.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { tapDatabase, type Wiretap } from '../../../scripts/bench/wire.ts';
import { createTestDatabase, type TestDatabase } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let base: TestDatabase;
let tap: Wiretap;
let app: TestApp;

beforeAll(async () => {
  base = await createTestDatabase();
  tap = await tapDatabase(base.url);
  const database = { ...base, url: tap.url, database: connectDatabase(tap.url, { poolSize: 1 }) };
  app = await startTestApp({ database });
});
afterAll(async () => {
  await app.close();
  await app.database.database.end();
  await tap.close();
  await base.drop();
});

/** Round trips of the third of three requests: by then the connection is open and the key is cached. */
async function counted(request: (run: number) => Promise<unknown>): Promise<number> {
  let last = 0;
  for (let run = 0; run < 3; run += 1) {
    ({ roundTrips: last } = await tap.during(async () => void (await request(run))));
  }
  return last;
}

const create = (name: string) => app.api('post', '/agents').send({ name }).expect(201);

test('createAgent waits for the database three times: limit, agent, commit', async () => {
  expect(await counted((run) => create(`Created ${run}`))).toBe(3);
});

test('createAgent in a workspace with a limit: four times, one more to count the agents', async () => {
  const { system } = base.database;
  const workspace = system.updateTable('workspaces').where('id', '=', app.workspace.workspaceId);
  await workspace.set({ agent_limit: 1000 }).execute();
  expect(await counted((run) => create(`Limited ${run}`))).toBe(4);
  await workspace.set({ agent_limit: null }).execute();
});

describe('updateAgent', () => {
  let path: string;
  beforeAll(async () => {
    path = `/agents/${(await create('Changed')).body.publicId}`;
  });

  test('of a field outside the draft takes one statement', async () => {
    expect(
      await counted((run) =>
        app
          .api('patch', path)
          .send({ description: `Run ${run}` })
          .expect(200),
      ),
    ).toBe(1);
  });

  test('of the draft waits five times: lock, change, read, digest, commit', async () => {
    const change = { aiModelPublicId: BUILTIN_MODEL.publicId, systemPrompt: 'Be brief.' };
    expect(await counted(() => app.api('patch', path).send(change).expect(200))).toBe(5);
  });
});
