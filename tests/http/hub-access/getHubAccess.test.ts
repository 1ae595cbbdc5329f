import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('a hub that nobody has set up is private, without a default plan', async () => {
    const { status, body } = await app.api('get', '/hub/access');
    expect([status, body]).toEqual([
      200,
      { accessType: 'private', defaultPlan: null, selfServiceEnabled: false, loginBannerUrl: null },
    ]);
  });

  test('it says the same as the hub', async () => {
    await app.api('patch', '/hub/access').send({ selfServiceEnabled: true }).expect(200);
    const [{ body: hub }, { body: access }] = [await app.api('get', '/hub'), await app.api('get', '/hub/access')];
    expect(hub).toMatchObject(access);
    expect(access.selfServiceEnabled).toBe(true);
    const stranger = await app.api('get', '/hub/access', app.stranger.apiKey);
    expect(stranger.body.selfServiceEnabled).toBe(false);
  });
});
