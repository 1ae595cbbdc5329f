import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inTransaction } from '../../../db/transaction.ts';
import { type MailToQueue, queueMail } from '../../../domain/mail/queueMail.ts';
import { smtpTransport } from '../../../integrations/mail/smtp.ts';
import { sendMail } from '../../../jobs/sendMail.ts';
import { forgetMails } from '../../../jobs/upkeep.ts';
import { jobContextOf } from '../../support/channels/inbox.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { until } from '../../support/poll.ts';
import { type SmtpStandIn, startSmtpServer } from '../../support/servers/smtpServer.ts';
import { trustedCertificate } from '../../support/servers/tls.ts';

const clock = new TestClock();
const HOUR_MS = 3_600_000;
let app: TestApp;
let server: SmtpStandIn;
let mailNumber = 0;

beforeAll(async () => {
  [app, server] = await Promise.all([startTestApp({ clock }), startSmtpServer()]);
});
beforeEach(() => {
  server.mails.length = 0;
  server.fault = undefined;
});
afterAll(async () => {
  await app.close();
  await server.close();
});

const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * HOUR_MS).toISOString();

function invitation(to: { email: string; name: string | null } = { email: 'ada@example.com', name: 'Ada' }) {
  mailNumber += 1;
  const url = `https://hub.example.com/accept/secret-${mailNumber}`;
  const data = { clientName: 'Lovelace Ltd', url, expiresAt: inDays(7) };
  return {
    workspaceId: app.workspace.workspaceId,
    kind: 'invitation',
    to,
    key: `invitation:${mailNumber}`,
    data,
  } as const satisfies MailToQueue;
}

const store = (...mails: MailToQueue[]) =>
  inTransaction(app.workspace.db, async (trx) => {
    for (const mail of mails) await queueMail(trx, { runtime: app.service.runtime, clock }, mail);
  });

/** Sends what is due over the server, or the one at `url`, as so many processes at once. */
async function sendDue({ url = `smtp://127.0.0.1:${server.port}`, processes = 1 } = {}) {
  const { runtime } = app.service;
  const mail = { ...smtpTransport(url), from: 'hub@guildhall.test' };
  const context = {
    ...jobContextOf(app),
    runtime: Object.create(runtime, { mail: { value: mail } }) as typeof runtime,
  };
  const { due } = await sendMail.sweep(context);
  await Promise.all(Array.from({ length: processes }, () => due.map((data) => sendMail.run(data, context))).flat());
}

const rowOf = ({ key }: { key: string }) =>
  app.workspace.db.selectFrom('mails').selectAll().where('key', '=', key).executeTakeFirstOrThrow();

const header = (content: string, name: string) =>
  content.replaceAll(/\r\n[ \t]/g, ' ').match(new RegExp(`^${name}: (.*)\r$`, 'im'))?.[1];

describe('a mail', () => {
  test('goes out once after the commit, though three processes look for it, and what it said is gone then', async () => {
    await app.workspace.db
      .updateTable('hubs')
      .set({ name: 'Analytical Engines', support_email: 'help@example.com' })
      .where('workspace_id', '=', app.workspace.workspaceId)
      .execute();
    const mail = invitation();
    await store(mail, mail);
    await sendDue({ processes: 3 });
    await sendDue();
    expect(server.mails.map(({ from, to }) => [from, to])).toEqual([['hub@guildhall.test', ['ada@example.com']]]);
    const row = await rowOf(mail);
    expect(row).toMatchObject({ status: 'sent', attempts: 1, content: null, settled_at: clock.now() });
    const content = server.mails[0]?.content ?? '';
    expect(header(content, 'Message-ID')).toBe(`<${row.id}@guildhall.test>`);
    expect(header(content, 'To')).toBe('Ada <ada@example.com>');
    expect(content).toContain('text/plain');
    expect(content).toContain('text/html');
  });

  test('comes from the hub by name, and answers go to its support', async () => {
    await app.workspace.db.updateTable('hubs').set({ name: 'Größe & Co', support_email: 'help@example.com' }).execute();
    await store(invitation());
    await sendDue();
    const content = server.mails[0]?.content ?? '';
    expect(header(content, 'From')).toBe(`=?UTF-8?Q?Gr=C3=B6=C3=9Fe_=26_Co?= <hub@guildhall.test>`);
    expect(header(content, 'Reply-To')).toMatch(/ <help@example\.com>$/);
  });

  test('of a transaction that fails does not exist, and its link is not readable in the database', async () => {
    const lost = invitation();
    await inTransaction(app.workspace.db, async (trx) => {
      await queueMail(trx, { runtime: app.service.runtime, clock }, lost);
      throw new Error('rolled back');
    }).catch(() => undefined);
    const kept = invitation();
    await store(kept);
    const rows = await app.workspace.db.selectFrom('mails').selectAll().where('status', '=', 'queued').execute();
    expect(rows.map(({ key }) => key)).toEqual([kept.key]);
    expect(rows[0]?.content?.toString('latin1')).not.toContain('secret-');
    await sendDue();
  });

  test.each([
    ['recipient', 451],
    ['data', 452],
  ] as const)('that the server refuses for now (%s %i) is tried again later', async (at, code) => {
    const mail = invitation();
    await store(mail);
    server.fault = { at, code };
    await sendDue();
    await sendDue();
    expect(await rowOf(mail)).toMatchObject({
      status: 'queued',
      attempts: 1,
      error_message: expect.stringContaining(`${code}`),
    });
    server.fault = undefined;
    clock.advance(30_000);
    await sendDue();
    expect(server.mails).toHaveLength(1);
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', error_message: null });
  });

  test.each([
    ['recipient', 550],
    ['data', 554],
  ] as const)('that the server refuses for good (%s %i) is not tried again', async (at, code) => {
    const mail = invitation();
    await store(mail);
    server.fault = { at, code };
    await sendDue();
    server.fault = undefined;
    clock.advance(24 * HOUR_MS);
    await sendDue();
    expect(server.mails).toEqual([]);
    expect(await rowOf(mail)).toMatchObject({ status: 'failed', attempts: 1, settled_at: expect.any(Date) });
  });

  test('is given up after seven attempts', async () => {
    const mail = invitation();
    await store(mail);
    server.fault = { at: 'recipient', code: 450 };
    for (let attempt = 0; attempt < 9; attempt += 1) {
      await sendDue();
      clock.advance(8 * HOUR_MS);
    }
    expect(await rowOf(mail)).toMatchObject({ status: 'failed', attempts: 7 });
  });

  test('whose connection ended before the mail was over is sent again', async () => {
    const mail = invitation();
    await store(mail);
    const closed = await startSmtpServer();
    await closed.close();
    await sendDue({ url: `smtp://127.0.0.1:${closed.port}` });
    clock.advance(HOUR_MS);
    server.fault = { at: 'hang-up', after: 'beginning' };
    await sendDue();
    clock.advance(HOUR_MS);
    await sendDue();
    expect(await rowOf(mail)).toMatchObject({ status: 'queued', attempts: 3, is_unconfirmed: false });
    server.fault = undefined;
    clock.advance(HOUR_MS);
    await sendDue();
    expect(server.mails).toHaveLength(1);
  });

  test('of which nobody knows whether the server took it is sent once more, under the same id, and no third time', async () => {
    const mail = invitation();
    await store(mail);
    server.fault = { at: 'hang-up', after: 'mail' };
    await sendDue();
    expect(await rowOf(mail)).toMatchObject({ status: 'queued', is_unconfirmed: true });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      clock.advance(HOUR_MS);
      await sendDue();
    }
    const row = await rowOf(mail);
    expect(row).toMatchObject({ status: 'failed', attempts: 2 });
    const id = `<${row.id}@guildhall.test>`;
    expect(server.mails.map(({ content }) => header(content, 'Message-ID'))).toEqual([id, id]);
  });

  test('whose process died while it sent is sent once more when its lease has passed, and no third time', async () => {
    const mail = invitation();
    await store(mail);
    const die = () =>
      app.workspace.db
        .updateTable('mails')
        .set({ status: 'sending', due_at: new Date(clock.now().getTime() + 1_000) })
        .where('key', '=', mail.key);
    await die().execute();
    await sendDue();
    expect(server.mails).toEqual([]);
    clock.advance(1_000);
    server.fault = { at: 'data', code: 451 };
    await sendDue();
    expect(await rowOf(mail)).toMatchObject({ status: 'queued', is_unconfirmed: true });
    await die().execute();
    clock.advance(1_000);
    await sendDue();
    expect(await rowOf(mail)).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('nobody knows'),
    });
    expect(server.mails).toEqual([]);
  });

  test('whose link has expired is not sent', async () => {
    const mail = invitation();
    await store(mail);
    server.fault = { at: 'recipient', code: 450 };
    await sendDue();
    server.fault = undefined;
    clock.advance(7 * 24 * HOUR_MS);
    await sendDue();
    expect(server.mails).toEqual([]);
    expect(await rowOf(mail)).toMatchObject({ status: 'failed', error_message: expect.stringContaining('expired') });
  });

  test('gets no header and no recipient from a name', async () => {
    const name = 'Eve\r\nBcc: victim@example.com\r\n\r\n<script>, x@example.com; "y" <z@example.com>';
    await app.workspace.db
      .updateTable('hubs')
      .set({ name: `${name}`.slice(0, 200) })
      .execute();
    await store(invitation({ email: 'eve@example.com', name }));
    await store(invitation({ email: 'eve@example.com\r\nRCPT TO:<victim@example.com>', name: null }));
    await sendDue();
    expect(server.mails.map(({ to }) => to)).toEqual([['eve@example.com']]);
    const head = server.mails[0]?.content.split('\r\n\r\n')[0] ?? '';
    expect(head).not.toMatch(/^(bcc|cc)/im);
    expect(header(`${head}\r`, 'To')).toMatch(/ <eve@example\.com>$/);
    await app.workspace.db.updateTable('hubs').set({ name: 'Analytical Engines' }).execute();
  });

  test('is forgotten 30 days after it was settled, and not before', async () => {
    const mail = invitation();
    await store(mail);
    await sendDue();
    const context = jobContextOf(app);
    clock.advance(30 * 24 * HOUR_MS);
    await forgetMails.run(context);
    expect(await rowOf(mail)).toMatchObject({ status: 'sent' });
    clock.advance(1);
    await forgetMails.run(context);
    await expect(rowOf(mail)).rejects.toThrow();
  });
});

describe('the mail server', () => {
  test('gets the password over TLS only, and a wrong one is an operator’s to mend', async () => {
    const certificate = await trustedCertificate();
    const plain = await startSmtpServer({ authOptional: false });
    const upgraded = await startSmtpServer({ ...certificate, hideSTARTTLS: false, authOptional: false });
    const secure = await startSmtpServer({ ...certificate, secure: true, authOptional: false });
    try {
      const mail = invitation();
      await store(mail);
      await sendDue({ url: `smtp://agency:secret@127.0.0.1:${plain.port}?requireTLS=true` });
      expect(await rowOf(mail)).toMatchObject({ status: 'queued', is_unconfirmed: false });
      clock.advance(12 * HOUR_MS);
      await sendDue({ url: `smtps://agency:wrong@127.0.0.1:${secure.port}` });
      expect(await rowOf(mail)).toMatchObject({ status: 'queued', attempts: 2 });
      clock.advance(12 * HOUR_MS);
      await sendDue({ url: `smtps://agency:secret@127.0.0.1:${secure.port}` });
      await store(invitation());
      await sendDue({ url: `smtp://agency:secret@127.0.0.1:${upgraded.port}` });
      const got = [...plain.mails, ...secure.mails, ...upgraded.mails].map(({ isSecure, user }) => [isSecure, user]);
      expect(got).toEqual([
        [true, 'agency'],
        [true, 'agency'],
      ]);
      certificate.forget();
      const untrusted = invitation();
      await store(untrusted);
      await sendDue({ url: `smtps://agency:secret@127.0.0.1:${secure.port}` });
      expect(await rowOf(untrusted)).toMatchObject({ status: 'queued' });
      expect(secure.mails).toHaveLength(1);
    } finally {
      certificate.forget();
      await Promise.all([plain, upgraded, secure].map((each) => each.close()));
    }
  });
});

test('without a mail server a running service writes each mail to a file of its own, which only its owner may read', async () => {
  const worker = await startTestApp({ clock, database: app.database, jobs: true });
  try {
    const mails = [1, 2, 3].map((each) => ({
      ...invitation({ email: `person${each}@example.com`, name: null }),
      workspaceId: worker.workspace.workspaceId,
    }));
    await inTransaction(worker.workspace.db, async (trx) => {
      for (const mail of mails) await queueMail(trx, { runtime: worker.service.runtime, clock }, mail);
    });
    const folder = join(worker.dataDir, 'mails');
    const files = await until(async () => {
      const names = await readdir(folder).catch(() => []);
      return names.filter((name) => name.endsWith('.eml')).length === 3 ? names : undefined;
    });
    expect(files).toHaveLength(3);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const texts: string[] = [];
    for (const file of files) {
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
      texts.push(await readFile(join(folder, file), 'utf8'));
    }
    expect(texts.map((text) => text.match(/^To: (.*)$/m)?.[1]).sort()).toEqual(mails.map(({ to }) => to.email));
  } finally {
    await worker.close();
  }
});
