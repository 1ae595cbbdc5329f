import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { admin, adminJson } from '../support/scripts/admin.ts';
import { NameServer } from '../support/servers/nameServer.ts';

/** The TXT records that there are, by name. */
const records = new Map<string, string[]>();
const names = new NameServer((name) => records.get(name) ?? 'unknown');

let database: TestDatabase;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createTestDatabase();
  env = {
    DATABASE_URL: database.url,
    GUILDHALL_NAME_SERVERS: await names.start(),
    GUILDHALL_HUB_DOMAIN: 'hubs.example.com',
    GUILDHALL_PUBLIC_URL: 'https://agents.example.com',
  };
});
afterAll(async () => {
  await names.stop();
  await database.drop();
});

const seed = async () => (await database.seedWorkspace()).workspaceId;
const run = (verb: string, workspaceId: string, ...rest: string[]) =>
  admin({ env }, 'hub', 'domain', verb, '--workspace', workspaceId, ...rest);
const json = (verb: string, workspaceId: string, ...rest: string[]) =>
  adminJson({ env }, 'hub', 'domain', verb, '--workspace', workspaceId, ...rest);

test('a domain is added, proven by its TXT record, listed and removed', async () => {
  const workspaceId = await seed();
  const added = await json('add', workspaceId, 'Bots.Acme.example.');
  expect(added).toEqual({
    domain: 'bots.acme.example',
    workspacePublicId: workspaceId,
    isVerified: false,
    record: '_guildhall.bots.acme.example',
    value: expect.stringMatching(/^guildhall-[0-9a-f]{40}$/),
  });
  expect(await json('add', workspaceId, 'bots.acme.example')).toEqual(added);
  for (const texts of [undefined, [], ['v=spf1 -all'], [`${added.value}0`]]) {
    if (texts) records.set(added.record, texts);
    expect(await run('verify', workspaceId, added.domain)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(added.value),
    });
  }
  expect(await json('list', workspaceId)).toEqual([added]);
  records.set(added.record, ['v=spf1 -all', added.value]);
  const verified = { ...added, isVerified: true };
  expect(await json('verify', workspaceId, added.domain)).toEqual(verified);
  expect(await json('list', workspaceId)).toEqual([verified]);
  await json('remove', workspaceId, added.domain);
  expect(await json('list', workspaceId)).toEqual([]);
});

test('whoever proves a domain has it: an unproven claim gives way, a proven one does not', async () => {
  const [first, second] = [await seed(), await seed()];
  const claimed = await json('add', first, 'contested.example');
  const taken = await json('add', second, 'contested.example');
  expect(taken.value).not.toBe(claimed.value);
  expect(await run('verify', first, 'contested.example')).toMatchObject({ code: 1 });
  records.set(taken.record, [taken.value]);
  await json('verify', second, 'contested.example');
  const refused = await run('add', first, 'contested.example');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(second) });
  expect(await json('list', first)).toEqual([]);
});

test.each(['localhost', '10.0.0.1', '*.example.com', 'https://x.example', 'x.example:443'])(
  '%s is no domain',
  async (name) => {
    expect(await run('add', await seed(), name)).toMatchObject({ code: 2 });
  },
);

test.each(['hubs.example.com', 'acme.hubs.example.com', 'agents.example.com'])(
  '%s belongs to the installation',
  async (name) => {
    expect(await run('add', await seed(), name)).toMatchObject({ code: 1, stderr: expect.stringContaining(name) });
  },
);

test('a name server that fails is no proof, and says so', async () => {
  const workspaceId = await seed();
  const { domain, record } = await json('add', workspaceId, 'dead.example');
  const failing = new NameServer(() => 'failure');
  const broken = { ...env, GUILDHALL_NAME_SERVERS: await failing.start() };
  const answer = await admin({ env: broken }, 'hub', 'domain', 'verify', '--workspace', workspaceId, domain);
  expect(answer).toMatchObject({ code: 1, stderr: expect.stringContaining(record) });
  await failing.stop();
});
