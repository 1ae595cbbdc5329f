import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { listLinks, makeLink } from './links.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('the links come in the order of the menu, without pages and without those of other hubs', async () => {
    expect(await listLinks(app)).toEqual([]);
    const links = [await makeLink(app, { title: 'Zebra' }), await makeLink(app, { title: 'ant' }), await makeLink(app)];
    await makeLink(app, {}, app.stranger.apiKey);
    expect(links.map(({ displayOrder }) => displayOrder)).toEqual([1, 2, 3]);
    expect(await listLinks(app)).toEqual(links);
    expect(await listLinks(app, app.stranger.apiKey)).toHaveLength(1);
  });
});
