import { RELEASED_NAME_MS } from '../../../runtime/hubs/hubNames.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

// With a payment provider: tests/domain/hubs/moveLinks.test.ts.

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const move = (subdomain: unknown, key?: string) => app.api('put', '/hub/domain', key).send({ subdomain });
const read = async (key?: string) => (await app.api('get', '/hub', key)).body;
const seedKey = async () => (await app.database.seedWorkspace()).apiKey;
const ownerOf = async (name: string) => (await app.service.runtime.hubNames.owner(name))?.workspace_id;

describe('200', () => {
  test.each(['abc', 'a1b', '123', `a${'-'.repeat(1)}b`, 'a'.repeat(63)])('the hub moves to %s', async (subdomain) => {
    const { workspaceId, apiKey } = await app.database.seedWorkspace();
    const { status, body } = await move(subdomain, apiKey);
    expect([status, body]).toEqual([200, { subdomain, hubUrl: `${app.origin}/hub/${subdomain}` }]);
    expect(await ownerOf(subdomain)).toBe(workspaceId);
  });

  test('the subdomain that the hub has is accepted and changes nothing', async () => {
    await move('same').expect(200);
    const [hub, before] = [await read(), await tableContents(app.database.name)];
    clock.advance(1000);
    expect((await move('same')).body.subdomain).toBe('same');
    expect(await read()).toEqual(hub);
    expect(await tableContents(app.database.name)).toEqual(before);
  });

  test('the earlier one leads nowhere; the hub may take it back, any number of times', async () => {
    const { workspaceId, apiKey } = await app.database.seedWorkspace();
    for (let round = 0; round < 25; round += 1) {
      await move('here', apiKey).expect(200);
      expect([await ownerOf('here'), await ownerOf('there')]).toEqual([workspaceId, undefined]);
      await move('there', apiKey).expect(200);
      expect([await ownerOf('here'), await ownerOf('there')]).toEqual([undefined, workspaceId]);
    }
  });

  test('many requests of one hub at once leave it with one name', async () => {
    const { apiKey, db } = await app.database.seedWorkspace();
    const names = ['many-a', 'many-b', 'many-c', 'many-a', 'many-b', 'many-c'];
    const answers = await Promise.all(names.map((name) => move(name, apiKey)));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const held = await db.selectFrom('hub_names').select('name').where('released_at', 'is', null).execute();
    expect(held).toEqual([{ name: (await read(apiKey)).subdomain }]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['ab', 'a'.repeat(64), 'Acme', '-abc', 'abc-', 'a.bc', 'a_bc', 'büro', '', 12, null, undefined])(
    'refuses %j',
    async (subdomain) => {
      const before = await read();
      const { status, body } = await move(subdomain);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(await read()).toEqual(before);
    },
  );
});

describe('409 SUBDOMAIN_TAKEN', () => {
  test('of 20 hubs at once one gets the name, and the others keep theirs', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, seedKey));
    const answers = await Promise.all(keys.map((key) => move('contested', key)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 19 }, () => [409, 'SUBDOMAIN_TAKEN']),
    );
    const hubs = await Promise.all(keys.map(read));
    expect(hubs.filter(({ subdomain }) => subdomain === 'contested')).toHaveLength(1);
    expect(hubs.filter(({ subdomain }) => subdomain === null)).toHaveLength(19);
  });

  test('a name that another hub gave up is free after 30 days, to the millisecond', async () => {
    const [owner, other] = [await seedKey(), await seedKey()];
    await move('old-name', owner).expect(200);
    await move('new-name', owner).expect(200);
    clock.advance(RELEASED_NAME_MS - 1);
    expect((await move('old-name', other)).body.code).toBe('SUBDOMAIN_TAKEN');
    clock.advance(1);
    expect((await move('old-name', other)).status).toBe(200);
    expect((await move('old-name', owner)).body.code).toBe('SUBDOMAIN_TAKEN');
    expect((await read(owner)).subdomain).toBe('new-name');
  });
});

describe('422 SUBDOMAIN_RESERVED', () => {
  test.each(['www', 'api', 'guildhall', 'mail', 'autodiscover', 'xn--pple-43d', '12--'.concat('a')])(
    '%s',
    async (subdomain) => {
      const before = await read();
      const { status, body } = await move(subdomain);
      expect([status, body.code]).toEqual([422, 'SUBDOMAIN_RESERVED']);
      expect(await read()).toEqual(before);
    },
  );
});

describe('429 RATE_LIMITED', () => {
  test('a hub blocks at most 20 names that it gave up, until the first one is free', async () => {
    const key = await seedKey();
    for (let round = 0; round <= 20; round += 1) await move(`hoard-${round}`, key).expect(200);
    const refused = await move('hoard-21', key);
    expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
    const waitSeconds = Number(refused.headers['retry-after']);
    expect(waitSeconds).toBe(RELEASED_NAME_MS / 1000);
    expect([(await read(key)).subdomain, await ownerOf('hoard-21')]).toEqual(['hoard-20', undefined]);
    clock.advance(waitSeconds * 1000);
    await move('hoard-21', key).expect(200);
  });
});
