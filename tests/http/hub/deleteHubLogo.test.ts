import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { pathOf, pngOf, uploadLogo } from '../../support/hub/pictures.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const remove = (type: string, key?: string) => app.api('delete', `/hub/logos/${type}`, key);

describe('200', () => {
  test('the logo and its file are gone, the others stay; a second time nothing changes', async () => {
    const { body: icon } = await uploadLogo(app, 'icon', pngOf(1));
    const { body: hub } = await uploadLogo(app, 'email', pngOf(2));
    await uploadLogo(app, 'icon', pngOf(1), app.stranger.apiKey);
    clock.advance(1000);
    const { status, body } = await remove('icon');
    expect([status, body]).toEqual([200, { ...hub, logoIconUrl: null, updatedAt: clock.now().toISOString() }]);
    await app.raw.get(pathOf(icon.logoIconUrl)).expect(404);
    await app.raw.get(pathOf(hub.logoEmailUrl)).expect(200);
    clock.advance(1000);
    expect((await remove('icon')).body).toEqual(body);
    const { body: foreign } = await app.api('get', '/hub', app.stranger.apiKey);
    await app.raw.get(pathOf(foreign.logoIconUrl)).expect(200);
    expect(await app.workspace.db.selectFrom('hub_logos').select('key').execute()).toHaveLength(1);
  });

  test('a hub that has no logo yet is returned as it is', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    const { body } = await app.api('get', '/hub', apiKey);
    for (const type of ['horizontal', 'icon', 'email', 'banner'])
      expect((await remove(type, apiKey)).body).toEqual(body);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test('there is no other type', async () => {
    const { status, body } = await remove('favicon');
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
