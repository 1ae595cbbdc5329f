import { channelSettingsFromEnv } from '../../../integrations/channels/settings.ts';

const PUBLIC = { whatsappBaseUrl: 'https://graph.facebook.com/v23.0', zApiBaseUrl: 'https://api.z-api.io' };

test.each([
  [{}, PUBLIC],
  [{ GUILDHALL_WHATSAPP_BASE_URL: '  ', GUILDHALL_ZAPI_BASE_URL: '' }, PUBLIC],
  [
    { GUILDHALL_WHATSAPP_BASE_URL: ' http://127.0.0.1:9901/v24.0// ' },
    { ...PUBLIC, whatsappBaseUrl: 'http://127.0.0.1:9901/v24.0' },
  ],
  [{ GUILDHALL_ZAPI_BASE_URL: 'https://z.example.com/' }, { ...PUBLIC, zApiBaseUrl: 'https://z.example.com' }],
])('%j', (env, settings) => {
  expect(channelSettingsFromEnv(env)).toEqual(settings);
});

test.each(['graph.facebook.com', 'ftp://graph.facebook.com', 'javascript:1'])('%j is no address', (address) => {
  for (const name of ['GUILDHALL_WHATSAPP_BASE_URL', 'GUILDHALL_ZAPI_BASE_URL']) {
    expect(() => channelSettingsFromEnv({ [name]: address })).toThrow(`${name} must be an http or https address.`);
  }
});
