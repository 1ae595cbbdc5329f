import { newId } from '../../../core/ids.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { listLinks, makeLink } from './links.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (id: string) => app.api('delete', `/hub/external-links/${id}`);

describe('204', () => {
  test('the link is gone, from the packages of plans, too; the others keep their places', async () => {
    const links = [await makeLink(app), await makeLink(app), await makeLink(app)];
    const { workspaceId: workspace_id, db } = app.workspace;
    const package_id = newId();
    const hubPackage = { workspace_id, id: package_id, name: 'Package', pages: ['home'], section_ordering: '[]' };
    await db.insertInto('hub_packages').values(hubPackage).execute();
    const shown = links.map(({ publicId }, place) => ({ workspace_id, package_id, link_id: publicId, place }));
    await db.insertInto('hub_package_links').values(shown).execute();
    const [first, second, third] = links;
    const { status, body } = await remove(second?.publicId ?? '');
    expect([status, body]).toEqual([204, {}]);
    expect(await listLinks(app)).toEqual([first, third]);
    const left = await db.selectFrom('hub_package_links').select('link_id').orderBy('place').execute();
    expect(left.map(({ link_id }) => link_id)).toEqual([first?.publicId, third?.publicId]);
  });
});

describe('404 EXTERNAL_LINK_NOT_FOUND', () => {
  test("a second deletion and another workspace's link are treated as a link that does not exist", async () => {
    const deleted = await makeLink(app);
    await remove(deleted.publicId).expect(204);
    const foreign = await makeLink(app, {}, app.stranger.apiKey);
    await expectMissing('EXTERNAL_LINK_NOT_FOUND', remove, [deleted.publicId, foreign.publicId]);
    expect(await listLinks(app, app.stranger.apiKey)).toEqual([foreign]);
  });

  test('of many deletions at once one succeeds', async () => {
    const { publicId } = await makeLink(app);
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404]);
  });
});
