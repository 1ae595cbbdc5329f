import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { makeCreditPackage, makePlan, readPlan } from '../../support/hub/plans.ts';
import { AT_BOUNDS, INVALID } from './creditPackages.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const PACKAGE = { name: 'Replaced', creditValueCents: 3, creditsAmount: 2000 };

function replace(id: string, body: object, key?: string) {
  return app.api('put', `/billing/credit-packages/${id}`, key).send(body);
}

describe('200', () => {
  test('the whole package is replaced: an optional field that is absent loses its value', async () => {
    const made = await makeCreditPackage(app, { extraCreditsAmount: 5 });
    clock.advance(1000);
    const { status, body } = await replace(made.publicId, PACKAGE);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...made,
      ...PACKAGE,
      extraCreditsAmount: null,
      renewalIntervalMonths: null,
      updatedAt: clock.now().toISOString(),
    });
    expect((await app.api('get', `/billing/credit-packages/${made.publicId}`)).body).toEqual(body);
  });

  test('plans that include the package change with it', async () => {
    const made = await makeCreditPackage(app);
    const plan = await makePlan(app, { creditPackagePublicId: made.publicId });
    await replace(made.publicId, { ...PACKAGE, name: 'With plans' }).expect(200);
    expect((await readPlan(app, plan.publicId)).creditPackage).toMatchObject({
      name: 'With plans',
      creditsAmount: 2000,
    });
  });

  test('the own name stays, in another case too', async () => {
    const { publicId } = await makeCreditPackage(app, { name: 'Mine' });
    expect((await replace(publicId, { ...PACKAGE, name: 'MINE' })).status).toBe(200);
  });

  test.each(AT_BOUNDS)('values at their bounds are stored unchanged', async (fields) => {
    const { publicId } = await makeCreditPackage(app);
    expect((await replace(publicId, fields)).body).toMatchObject(fields);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(INVALID)('%s: nothing changes', async (_what, fields) => {
    const made = await makeCreditPackage(app);
    const { status, body } = await replace(made.publicId, { ...PACKAGE, ...fields });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect((await app.api('get', `/billing/credit-packages/${made.publicId}`)).body).toEqual(made);
  });
});

describe('404 CREDIT_PACKAGE_NOT_FOUND', () => {
  test('an unknown package, a deleted one and another workspace’s, which stays as it is', async () => {
    const deleted = await makeCreditPackage(app);
    await app.api('delete', `/billing/credit-packages/${deleted.publicId}`).expect(204);
    const foreign = await makeCreditPackage(app, {}, app.stranger.apiKey);
    const ask = (id: string) => replace(id, { ...PACKAGE, name: 'Nowhere' });
    await expectMissing('CREDIT_PACKAGE_NOT_FOUND', ask, [deleted.publicId, foreign.publicId]);
    const { body } = await app.api('get', `/billing/credit-packages/${foreign.publicId}`, app.stranger.apiKey);
    expect(body).toEqual(foreign);
  });
});

describe('409 CREDIT_PACKAGE_NAME_TAKEN', () => {
  test('the name of another package, whatever its case: nothing changes', async () => {
    await makeCreditPackage(app, { name: 'Taken' });
    const made = await makeCreditPackage(app);
    const { status, body } = await replace(made.publicId, { ...PACKAGE, name: 'TAKEN' });
    expect([status, body.code]).toEqual([409, 'CREDIT_PACKAGE_NAME_TAKEN']);
    expect((await app.api('get', `/billing/credit-packages/${made.publicId}`)).body).toEqual(made);
  });
});
