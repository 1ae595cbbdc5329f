import { newId } from '../../../core/ids.ts';
import { isDefaultOfPublicHub } from '../../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

type Workspace = TestApp['workspace'];

let made = 0;

/** A plan of a workspace, straight in the database. */
async function storePlan({ workspaceId, db }: Workspace, priceCents = 0): Promise<{ publicId: string; name: string }> {
  const [id, packageId, name] = [newId(), newId(), `Plan ${++made}`];
  await db
    .insertInto('hub_packages')
    .values({ workspace_id: workspaceId, id: packageId, name, pages: ['home'], section_ordering: '[]' })
    .execute();
  await db
    .insertInto('plans')
    .values({
      workspace_id: workspaceId,
      id,
      name,
      billing_type: 'recurring',
      billing_interval_months: 1,
      price_cents: priceCents,
      currency: 'EUR',
      seats_included: 1,
      hub_package_id: packageId,
    })
    .execute();
  return { publicId: id, name };
}

const update = (body: object, { apiKey }: Pick<Workspace, 'apiKey'>) =>
  app.api('patch', '/hub/access', apiKey).send(body);
const read = async ({ apiKey }: Pick<Workspace, 'apiKey'>) => (await app.api('get', '/hub/access', apiKey)).body;

/** The change is refused with this status and code, and the hub stays as it is. */
async function expectRefused(workspace: Workspace, change: object, status: number, code: string): Promise<void> {
  const before = await read(workspace);
  const answer = await update({ ...change, selfServiceEnabled: !before.selfServiceEnabled }, workspace);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await read(workspace)).toEqual(before);
}

describe('200', () => {
  test('a hub opens with a free plan of the same request, or one that was set before', async () => {
    for (const steps of [[['accessType', 'defaultPlanPublicId']], [['defaultPlanPublicId'], ['accessType']]] as const) {
      const workspace = await app.database.seedWorkspace();
      const defaultPlan = await storePlan(workspace);
      const change = { accessType: 'public', defaultPlanPublicId: defaultPlan.publicId };
      for (const names of steps) {
        const body = Object.fromEntries(names.map((name) => [name, change[name]]));
        expect((await update(body, workspace)).status).toBe(200);
      }
      const expected = { accessType: 'public', defaultPlan, selfServiceEnabled: false, loginBannerUrl: null };
      expect(await read(workspace)).toEqual(expected);
    }
  });

  test('an absent field stays as it is; an empty body changes nothing', async () => {
    const workspace = await app.database.seedWorkspace();
    const defaultPlan = await storePlan(workspace);
    await update({ accessType: 'public', defaultPlanPublicId: defaultPlan.publicId }, workspace);
    clock.advance(1000);
    expect((await update({ selfServiceEnabled: true }, workspace)).body).toMatchObject({
      accessType: 'public',
      defaultPlan,
      selfServiceEnabled: true,
    });
    const { body: hub } = await app.api('get', '/hub', workspace.apiKey);
    expect(hub.updatedAt).toBe(clock.now().toISOString());
    clock.advance(1000);
    expect((await update({}, workspace)).status).toBe(200);
    expect((await app.api('get', '/hub', workspace.apiKey)).body).toEqual(hub);
    expect((await update({ accessType: 'private' }, workspace)).body).toMatchObject({
      accessType: 'private',
      defaultPlan,
    });
  });

  test('a private hub may have a default plan with a price', async () => {
    const workspace = await app.database.seedWorkspace();
    const defaultPlan = await storePlan(workspace, 100);
    const { body } = await update({ defaultPlanPublicId: defaultPlan.publicId }, workspace);
    expect(body).toMatchObject({ accessType: 'private', defaultPlan });
  });
});

describe('404 PLAN_NOT_FOUND', () => {
  test("another workspace's plan and a deleted one are treated as one that does not exist", async () => {
    const workspace = await app.database.seedWorkspace();
    const foreign = await storePlan(app.stranger);
    const deleted = await storePlan(workspace);
    await workspace.db
      .updateTable('plans')
      .set({ deleted_at: clock.now() })
      .where('id', '=', deleted.publicId)
      .execute();
    const ids = [foreign.publicId, deleted.publicId];
    await expectMissing('PLAN_NOT_FOUND', (id) => update({ defaultPlanPublicId: id }, workspace), ids);
    for (const id of ids)
      await expectRefused(workspace, { accessType: 'public', defaultPlanPublicId: id }, 404, 'PLAN_NOT_FOUND');
  });
});

describe('422 DEFAULT_PLAN_REQUIRED', () => {
  test('a hub without a default plan does not open', async () => {
    const workspace = await app.database.seedWorkspace();
    await expectRefused(workspace, { accessType: 'public' }, 422, 'DEFAULT_PLAN_REQUIRED');
  });

  test('nor does one whose default plan was deleted', async () => {
    const workspace = await app.database.seedWorkspace();
    const { publicId } = await storePlan(workspace);
    await update({ defaultPlanPublicId: publicId }, workspace).expect(200);
    await workspace.db.updateTable('plans').set({ deleted_at: clock.now() }).where('id', '=', publicId).execute();
    expect((await read(workspace)).defaultPlan).toBeNull();
    await expectRefused(workspace, { accessType: 'public' }, 422, 'DEFAULT_PLAN_REQUIRED');
  });
});

describe('422 DEFAULT_PLAN_NOT_FREE', () => {
  test('a hub does not open with a plan that costs one cent, and an open one does not get it', async () => {
    const workspace = await app.database.seedWorkspace();
    const [free, priced] = [await storePlan(workspace), await storePlan(workspace, 1)];
    const change = { accessType: 'public', defaultPlanPublicId: priced.publicId };
    await expectRefused(workspace, change, 422, 'DEFAULT_PLAN_NOT_FREE');
    await update({ defaultPlanPublicId: priced.publicId }, workspace).expect(200);
    await expectRefused(workspace, { accessType: 'public' }, 422, 'DEFAULT_PLAN_NOT_FREE');
    await update({ ...change, defaultPlanPublicId: free.publicId }, workspace).expect(200);
    await expectRefused(workspace, { defaultPlanPublicId: priced.publicId }, 422, 'DEFAULT_PLAN_NOT_FREE');
  });

  test('a price that is set at the same time is seen, whichever comes first', async () => {
    const workspace = await app.database.seedWorkspace();
    const { publicId } = await storePlan(workspace);
    const { workspaceId, db } = workspace;
    const setPrice = (held: () => Promise<unknown>) =>
      inTransaction(db, async (trx) => {
        await trx.updateTable('plans').set({ price_cents: 500 }).where('workspace_id', '=', workspaceId).execute();
        await held();
        // As `updatePlan` decides: with the row of the plan in its hands.
        if (await isDefaultOfPublicHub(trx, workspaceId, publicId)) throw new Error('The plan must stay free');
      });
    let opening: ReturnType<typeof update> | undefined;
    await setPrice(async () => {
      opening = update({ accessType: 'public', defaultPlanPublicId: publicId }, workspace);
      opening.then(() => {});
      await untilOneWaits(app.database.name);
    });
    expect((await opening)?.body.code).toBe('DEFAULT_PLAN_NOT_FREE');
    await db.updateTable('plans').set({ price_cents: 0 }).where('workspace_id', '=', workspaceId).execute();
    await update({ accessType: 'public', defaultPlanPublicId: publicId }, workspace).expect(200);
    await expect(setPrice(async () => {})).rejects.toThrow('must stay free');
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { accessType: 'open' },
    { accessType: null },
    { defaultPlanPublicId: 'free' },
    { defaultPlanPublicId: null },
    { selfServiceEnabled: 'yes' },
    { loginBannerUrl: 'https://example.com/x.png' },
  ])('refuses %j', async (body) => {
    const answer = await update(body, app.workspace);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
