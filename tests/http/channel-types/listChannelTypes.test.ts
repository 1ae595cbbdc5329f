import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('the list is the one that the document shows as its example', async () => {
    const { status, body } = await app.api('get', '/channel-types');
    expect(status).toBe(200);
    expect(body).toEqual(parse(readFileSync('spec/examples/listChannelTypes/all.yaml', 'utf8')).value);
  });

  test('is the same for every workspace', async () => {
    const ours = await app.api('get', '/channel-types');
    const theirs = await app.api('get', '/channel-types', app.stranger.apiKey);
    expect(theirs.body).toEqual(ours.body);
  });

  test('a type has a schema exactly where it says that it takes something', async () => {
    const { body } = await app.api('get', '/channel-types');
    for (const { supports, configSchema, credentialsSchema } of body) {
      expect([configSchema !== null, credentialsSchema !== null]).toEqual([
        supports.configuration,
        supports.credentials,
      ]);
    }
  });
});
