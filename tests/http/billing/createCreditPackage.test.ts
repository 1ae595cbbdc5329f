import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeCreditPackage } from '../../support/hub/plans.ts';
import { AT_BOUNDS, INVALID, packageNames } from './creditPackages.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const PACKAGE = { name: 'Monthly', creditValueCents: 2, creditsAmount: 1000 };

function create(body: object, key?: string) {
  return app.api('post', '/billing/credit-packages', key).send(body);
}

describe('201', () => {
  test('the package reads the same as in the response', async () => {
    const sent = { ...PACKAGE, extraCreditsAmount: 100, renewalIntervalMonths: 1 };
    const { status, body } = await create(sent);
    const now = clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({ ...sent, publicId: expect.any(String), createdAt: now, updatedAt: now });
    expect((await app.api('get', `/billing/credit-packages/${body.publicId}`)).body).toEqual(body);
  });

  test.each([{}, { extraCreditsAmount: null, renewalIntervalMonths: null }])(
    'with %j there is no bonus, and the credits are granted once',
    async (fields) => {
      const { body } = await create({ ...PACKAGE, ...fields, name: `Once ${Object.keys(fields).length}` });
      expect(body).toMatchObject({ extraCreditsAmount: null, renewalIntervalMonths: null });
    },
  );

  test.each(AT_BOUNDS)('values at their bounds are stored unchanged', async (fields) => {
    expect((await create(fields)).body).toMatchObject(fields);
  });

  test('another workspace may use the name', async () => {
    await makeCreditPackage(app, { name: 'Shared name' });
    expect((await create({ ...PACKAGE, name: 'Shared name' }, app.stranger.apiKey)).status).toBe(201);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(INVALID)('%s: nothing is stored', async (_what, fields) => {
    const before = await packageNames(app);
    const { status, body } = await create({ ...PACKAGE, name: 'Refused', ...fields });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await packageNames(app)).toEqual(before);
  });
});

describe('409 CREDIT_PACKAGE_NAME_TAKEN', () => {
  test('the name of another package, whatever its case', async () => {
    await makeCreditPackage(app, { name: 'Café' });
    const { status, body } = await create({ ...PACKAGE, name: 'CAFÉ' });
    expect([status, body.code]).toEqual([409, 'CREDIT_PACKAGE_NAME_TAKEN']);
  });

  test('of requests at once exactly one gets it', async () => {
    const names = ['race', 'RACE', 'Race', 'rAcE'];
    const answers = await Promise.all(names.map((name) => create({ ...PACKAGE, name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('the name of a deleted package is free', async () => {
    const { publicId } = await makeCreditPackage(app, { name: 'Gone' });
    await app.api('delete', `/billing/credit-packages/${publicId}`).expect(204);
    expect((await create({ ...PACKAGE, name: 'gone' })).status).toBe(201);
  });
});
