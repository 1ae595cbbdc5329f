import { Ajv2020 } from 'ajv/dist/2020.js';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (type: string) => app.api('get', `/channel-types/${type}`);

describe('200', () => {
  test.each(['whatsapp', 'z_api', 'web_chat'])('%s is the same as in the list', async (type) => {
    const list = await app.api('get', '/channel-types');
    const { status, body } = await get(type);
    expect(status).toBe(200);
    expect(body).toEqual(list.body.find((each: { type: string }) => each.type === type));
  });

  test.each<[string, string, object, boolean]>([
    ['z_api', 'configSchema', { instanceId: '3C0F' }, true],
    ['z_api', 'configSchema', {}, false],
    ['z_api', 'configSchema', { instanceId: '' }, false],
    ['z_api', 'configSchema', { instanceId: '3C0F', more: 1 }, false],
    ['z_api', 'credentialsSchema', { instanceToken: 'a', clientToken: 'b' }, true],
    ['z_api', 'credentialsSchema', { instanceToken: 'a' }, false],
    ['web_chat', 'configSchema', {}, true],
    [
      'web_chat',
      'configSchema',
      { title: 'Chat', primaryColor: '#12aBcF', allowedOrigins: ['https://example.com'] },
      true,
    ],
    ['web_chat', 'configSchema', { primaryColor: 'red' }, false],
    ['web_chat', 'configSchema', { allowedOrigins: 'https://example.com' }, false],
    ['web_chat', 'configSchema', { instanceId: '3C0F' }, false],
  ])('%s: the %s is JSON Schema that judges %j as %s', async (type, part, value, good) => {
    const { body } = await get(type);
    const validate = new Ajv2020({ strict: true }).compile(body[part]);
    expect(validate(value)).toBe(good);
  });
});

describe('400 INVALID_CHANNEL_TYPE', () => {
  test.each(['email', 'WhatsApp', 'z-api', 'constructor', '__proto__'])('%s is no channel type', async (type) => {
    const { status, body } = await get(type);
    expect([status, body.code]).toEqual([400, 'INVALID_CHANNEL_TYPE']);
  });
});
