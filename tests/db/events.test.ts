import { sql } from 'kysely';
import { pino } from 'pino';
import { newId } from '../../core/ids.ts';
import {
  type ApprovalDecision,
  apiKeyRevoked,
  approvalDecided,
  type RevokedApiKey,
  subscribe,
} from '../../db/events.ts';
import { inTransaction } from '../../db/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';

let setting: TestDatabase;
beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());

const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
beforeEach(() => void logged.splice(0));

const decision = (): ApprovalDecision => ({ workspaceId: newId(), conversationId: newId() });
const ID = '0198c0de-0000-7000-8000-000000000000';

test('a subscriber receives an event unchanged', async () => {
  const { database } = setting;
  const decisions = Promise.withResolvers<ApprovalDecision>();
  const keys = Promise.withResolvers<RevokedApiKey>();
  const ends = [
    await subscribe(database, approvalDecided, { received: decisions.resolve, missed: () => {}, logger }),
    await subscribe(database, apiKeyRevoked, { received: keys.resolve, missed: () => {}, logger }),
  ];
  const sent = decision();
  await inTransaction(database.system, (trx) => approvalDecided.notify(trx, sent));
  await apiKeyRevoked.notify(database.system, { apiKeyId: ID });
  expect(await decisions.promise).toEqual(sent);
  expect(await keys.promise).toEqual({ apiKeyId: ID });
  for (const end of ends) end();
  expect(logged).toEqual([]);
});

test('malformed notifications are logged without their text and ignored', async () => {
  const { database } = setting;
  const received: ApprovalDecision[] = [];
  const last = Promise.withResolvers<void>();
  const sent = decision();
  const end = await subscribe(database, approvalDecided, {
    received: (payload) => {
      received.push(payload);
      last.resolve();
    },
    missed: () => {},
    logger,
  });
  const texts = [
    '',
    'secret',
    'null',
    '[]',
    '{}',
    `{"workspaceId":"${ID}"}`,
    `{"workspaceId":"${ID}","conversationId":7}`,
  ];
  for (const text of texts) await sql`select pg_notify(${approvalDecided.channel}, ${text})`.execute(database.system);
  await approvalDecided.notify(database.system, sent);
  await last.promise;
  end();
  expect(received).toEqual([sent]);
  expect(logged).toHaveLength(texts.length);
  expect(logged[1]).toContain('a malformed notification was ignored');
  expect(logged.join('')).not.toContain('secret');
});

test.each(['', 'no id', `{"apiKeyId":"${ID}"}`, ` ${ID}`])('the id of a revoked key is a UUID and not %j', (text) => {
  expect(() => apiKeyRevoked.parse(text)).toThrow('The payload has no UUID');
});

test('unknown fields of an event are left out', () => {
  const sent = decision();
  expect(approvalDecided.parse(JSON.stringify({ ...sent, more: true }))).toEqual(sent);
});
