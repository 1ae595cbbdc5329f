import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ hubDomain: 'hubs.example.com' });
});
afterAll(() => app.close());

describe('200', () => {
  test('a hub has no address until it has a subdomain', async () => {
    const { status, body } = await app.api('get', '/hub/domain');
    expect([status, body]).toEqual([200, { subdomain: null, hubUrl: null }]);
  });

  test('its address is its subdomain of the hub domain', async () => {
    const moved = await app.api('put', '/hub/domain').send({ subdomain: 'acme' }).expect(200);
    expect(moved.body).toEqual({ subdomain: 'acme', hubUrl: 'https://acme.hubs.example.com' });
    expect((await app.api('get', '/hub/domain')).body).toEqual(moved.body);
    expect((await app.api('get', '/hub')).body).toMatchObject(moved.body);
    expect((await app.api('get', '/hub/domain', app.stranger.apiKey)).body.subdomain).toBeNull();
  });
});
