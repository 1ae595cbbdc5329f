import { readConfig } from '../../server/config.ts';

// tests/faults/start.test.ts shows that such an error ends the start with one line.
test.each([
  ['PORT', '80a'],
  ['PORT', '65536'],
  ['GUILDHALL_RATE_LIMIT', '-1'],
  ['GUILDHALL_POOL_SIZE', '1'],
  ['GUILDHALL_DATABASE_WAIT_SECONDS', '-1'],
  ['GUILDHALL_BACKGROUND_TURNS', '0'],
  ['GUILDHALL_KEEP_STEPS_DAYS', '0'],
  ['GUILDHALL_KEEP_EXECUTIONS_DAYS', '0'],
  ['GUILDHALL_ALLOW_PRIVATE_NETWORK', 'yes'],
  ['GUILDHALL_NAME_SERVERS', 'dns.example.com'],
  ['GUILDHALL_TRUSTED_PROXIES', 'many'],
  ['GUILDHALL_HUB_DOMAIN', 'https://hubs.example.com'],
  ['GUILDHALL_LOG_LEVEL', 'loud'],
  ['OPENAI_COMPATIBLE_BASE_URL', 'localhost:8080'],
  ['DATABASE_URL', 'localhost/guildhall'],
  ['DATABASE_URL', 'mysql://localhost/guildhall'],
  ['GUILDHALL_DATABASE_DIRECT_URL', 'localhost/guildhall'],
  ['GUILDHALL_DATABASE_DIRECT_URL', 'postgres://localhost/guildhall'],
  ['GUILDHALL_DATABASE_PREPARE', 'no'],
  ['GUILDHALL_DATABASE_CITUS', 'yes'],
  ['GUILDHALL_ROLE', 'worker'],
])('%s=%s is refused by an error that names it', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}[ =][^\n]+$`));
});
