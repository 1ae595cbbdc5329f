import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await app.api('put', '/hub/domain').send({ subdomain: 'first' }).expect(200);
  await app.api('put', '/hub/domain').send({ subdomain: 'acme' }).expect(200);
});
afterAll(() => app.close());

const check = async (subdomain: string, key?: string) => {
  const { status, body } = await app.api('get', `/hub/domain/availability?subdomain=${subdomain}`, key);
  expect(status).toBe(200);
  return body;
};

describe('200', () => {
  test('a free name is available, and stays so: nothing is held or written', async () => {
    const before = await tableContents(app.database.name);
    for (let round = 0; round < 2; round += 1)
      expect(await check('a1-b')).toEqual({ subdomain: 'a1-b', available: true, reason: null });
    expect(await tableContents(app.database.name)).toEqual(before);
  });

  test.each(['www', 'API', 'admin', 'xn--pple-43d', 'ab--c'])('%s is reserved', async (subdomain) => {
    const reserved = { subdomain: subdomain.toLowerCase(), available: false, reason: 'reserved' };
    expect(await check(subdomain)).toEqual(reserved);
  });

  test('the name of a hub is taken, in any case, for the hub itself too', async () => {
    const taken = { subdomain: 'acme', available: false, reason: 'taken' };
    for (const key of [undefined, app.stranger.apiKey]) expect(await check('ACME', key)).toEqual(taken);
  });

  test('a name that a hub gave up is available to that hub only', async () => {
    expect(await check('first')).toMatchObject({ available: true });
    expect(await check('first', app.stranger.apiKey)).toMatchObject({ available: false, reason: 'taken' });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['', 'ab', 'a'.repeat(64), '-abc', 'abc-', 'a.b.c', 'a_bc', 'b%C3%BCro'])(
    'refuses %j',
    async (subdomain) => {
      const { status, body } = await app.api('get', `/hub/domain/availability?subdomain=${subdomain}`);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});
