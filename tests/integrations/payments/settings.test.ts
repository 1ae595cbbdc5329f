import { isLive, paymentSettingsFromEnv } from '../../../integrations/payments/settings.ts';

test.each([
  [{}, { webhookSecrets: [] }],
  [{ STRIPE_SECRET_KEY: ' ', STRIPE_API_BASE: '', STRIPE_WEBHOOK_SECRET: ',' }, { webhookSecrets: [] }],
  [{ STRIPE_SECRET_KEY: ' sk_test_a1 ' }, { secretKey: 'sk_test_a1', webhookSecrets: [] }],
  [{ STRIPE_WEBHOOK_SECRET: 'whsec_new, whsec_old' }, { webhookSecrets: ['whsec_new', 'whsec_old'] }],
  [{ STRIPE_API_BASE: 'http://127.0.0.1:12111/' }, { apiBase: 'http://127.0.0.1:12111', webhookSecrets: [] }],
])('%j is read', (env, settings) => {
  expect(paymentSettingsFromEnv(env)).toEqual(settings);
});

test.each([
  ['STRIPE_SECRET_KEY', 'pk_test_a1'],
  ['STRIPE_SECRET_KEY', 'sk_test_a b'],
  ['STRIPE_API_BASE', 'nonsense'],
  ['STRIPE_API_BASE', 'http://127.0.0.1/v1'],
  ['STRIPE_API_BASE', 'ftp://127.0.0.1'],
  ['STRIPE_WEBHOOK_SECRET', 'whsec a'],
])('%s refuses %s without repeating it', (name, value) => {
  const read = () => paymentSettingsFromEnv({ [name]: value });
  expect(read).toThrow(new RegExp(`^${name} must be`));
  expect(read).not.toThrow(value);
});

test('a key says whether it moves real money', () => {
  expect(isLive({ secretKey: 'sk_live_a' })).toBe(true);
  expect(isLive({ secretKey: 'rk_live_a' })).toBe(true);
  expect(isLive({ secretKey: 'sk_test_a' })).toBe(false);
  expect(isLive({})).toBe(false);
});
