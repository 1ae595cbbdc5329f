import { sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import { grantCredits } from '../../domain/credits/credits.ts';
import { csvLine } from '../../scripts/admin/csv.ts';
import { publishedAgent, send } from '../http/messages/turns.ts';
import { useModelApp } from '../support/http/modelApp.ts';
import { makePayingClient } from '../support/hub/payingClients.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';

const here = useModelApp();
let clientId: string;
let conversationId: string;
let messageId: string;

beforeAll(async () => {
  const { app } = here;
  clientId = await makePayingClient(app.workspace, { credits: 5, now: new Date('2026-01-10T00:00:00Z') });
  await inTransaction(app.workspace.db, (trx) =>
    grantCredits(trx, {
      workspaceId: app.workspace.workspaceId,
      clientId,
      source: 'extra',
      amount: 7,
      expiresAt: null,
      key: '=HYPERLINK("http://evil.test","x")',
      now: new Date('2026-01-05T00:00:00Z'),
      note: '@bought, "twice"\nreally',
    }),
  );
  const agentId = await publishedAgent(app);
  const { body } = await send(app, agentId, { content: 'Hi.', metadata: { clientPublicId: clientId } }).expect(200);
  conversationId = body.conversationId;
  messageId = body.message.publicId;
});

const list = (...args: string[]) => run(here.app.database, 'ledger', 'list', '--client', clientId, ...args);
const listed = (...args: string[]) => adminJson(here.app.database, 'ledger', 'list', '--client', clientId, ...args);

test('shows each entry with the message that used it, oldest first', async () => {
  const { entries, ...head } = await listed();
  expect(head).toMatchObject({ clientPublicId: clientId, workspacePublicId: here.app.workspace.workspaceId, to: null });
  expect(entries).toMatchObject([
    { kind: 'grant', amount: 7, source: 'extra', messagePublicId: null, conversationPublicId: null },
    { kind: 'grant', amount: 5, source: 'grant', key: 'first' },
    { kind: 'use', amount: -1, source: 'grant', messagePublicId: messageId, conversationPublicId: conversationId },
  ]);
  const { stdout } = await list();
  expect(stdout.split('\n')[2]).toContain(messageId);
});

test('keeps to the dates', async () => {
  expect((await listed('--from', '2026-01-05', '--to', '2026-01-06')).entries).toHaveLength(1);
  expect((await listed('--from', '2026-01-05T00:00:00.001Z')).entries).toHaveLength(2);
  expect((await listed('--to', '2026-01-05')).entries).toEqual([]);
  expect((await list('--to', '2026-01-05')).stdout).toBe('none\n');
});

test('as CSV has no formula and keeps each entry in its fields', async () => {
  const { stdout } = await list('--csv', '--to', '2026-02-01');
  const [head, ...rest] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^createdAt,kind,amount,source,/);
  expect(rest.join('\n')).toMatch(
    /^2026-01-05T00:00:00\.000Z,grant,7,extra,,"'=HYPERLINK\(""http:\/\/evil\.test"",""x""\)","'@bought, ""twice""\nreally",,,/,
  );
});

test.each(['=1', '+1', '-1', '@a', '\t=1', '\r=1'])('a field that begins as %j is text for a spreadsheet', (text) => {
  expect(csvLine([text])).toMatch(/^"?'/);
  expect(csvLine([-1, null, new Date(0)])).toBe('-1,,1970-01-01T00:00:00.000Z');
});

test('is read in pages, and has each of many entries once', async () => {
  const { workspaceId, db } = here.app.workspace;
  const many = await makePayingClient(here.app.workspace, { isUnlimited: true });
  // Many of one moment: a page may end between them.
  await sql`insert into credit_entries (workspace_id, id, client_id, key, kind, amount, usage_period, created_at)
    select ${workspaceId}, gen_random_uuid(), ${many}, 'k' || n, 'use', -1, 0, timestamptz '2026-01-01' + n / 700 * interval '1 day'
    from generate_series(1, 2500) n`.execute(db);
  const { entries } = await adminJson(here.app.database, 'ledger', 'list', '--client', many);
  expect(new Set(entries.map(({ key }: { key: string }) => key)).size).toBe(2500);
  expect(entries).toHaveLength(2500);
  const { stdout } = await run(here.app.database, 'ledger', 'list', '--client', many, '--csv');
  expect(stdout.trimEnd().split('\n')).toHaveLength(2501);
});

test.each([
  [['--client', 'x'], 'must be a UUID'],
  [['--client', newId(), '--from', '2026-02-30'], '--from must be a date'],
  [['--client', newId(), '--from', 'yesterday'], '--from must be a date'],
  [['--client', newId(), '--json', '--csv'], 'exclude each other'],
])('refuses %j', async (args, message) => {
  const { code, stdout, stderr } = await run(here.app.database, 'ledger', 'list', ...args);
  expect(code).toBe(2);
  expect(stdout + stderr).toContain(message);
});

test('knows no other clients', async () => {
  const { code, stderr } = await run(here.app.database, 'ledger', 'list', '--client', newId());
  expect(code).toBe(1);
  expect(stderr).toContain('There is no client');
});
