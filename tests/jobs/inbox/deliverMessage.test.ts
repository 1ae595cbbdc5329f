import { sql } from 'kysely';
import type { ChannelConnectionRow } from '../../../db/queries/channels/connections.ts';
import { sealChannelCredentials } from '../../../domain/channels/credentials.ts';
import { deliverMessage } from '../../../jobs/deliverMessage.ts';
import { messageEvent, statusEvent } from '../../support/channels/events.ts';
import { answerDue, deliverDue, jobContextOf, takeDue, useInbox, workInbox } from '../../support/channels/inbox.ts';
import { sendDue } from '../../support/turns/followUps.ts';

const here = useInbox();
const HOUR_MS = 3_600_000;

/** A reply that is on its way and not sent. */
async function replyFor(connection: ChannelConnectionRow, person: string, reply = 'Hello.') {
  here.server.script({ reply });
  await here.receive(connection, messageEvent(person, { sentAt: here.clock.now().toISOString() }));
  await takeDue(here.app);
  await answerDue(here.app);
}
const states = async (connection: ChannelConnectionRow) =>
  (await here.deliveries(connection)).map(({ status, error_code }) =>
    error_code ? `${status} ${error_code}` : status,
  );
const sent = () => here.zApi.messages.map(({ content }) => content);

describe('a reply', () => {
  test('goes out in the channel’s own marks, split and with the delays of the agent, in its order', async () => {
    const connection = await here.connect({
      messageSplittingEnabled: true,
      messageDelayEnabled: true,
      messageDelayType: 'LOW',
    });
    const first = 'The first part is about the **order**, which has left the house.';
    const second = 'The second part is about the bill, which comes with the next mail.';
    await here.receive(connection, messageEvent('491500031'));
    await takeDue(here.app);
    here.clock.advance(2_000);
    here.server.script({ reply: `${first}\n\n${second}` });
    await answerDue(here.app);
    await deliverDue(here.app);
    expect(sent()).toEqual([]);
    const rows = await here.deliveries(connection);
    const waits = rows.map(({ due_at, created_at }) => due_at.getTime() - created_at.getTime());
    expect(rows.map(({ typing_ms }) => typing_ms)).toEqual([waits[0], (waits[1] ?? 0) - (waits[0] ?? 0)]);
    here.clock.advance(waits[0] ?? 0);
    await deliverDue(here.app);
    expect(sent()).toEqual([first.replaceAll('**', '*')]);
    here.clock.advance((waits[1] ?? 0) - (waits[0] ?? 0));
    await deliverDue(here.app);
    expect(sent()).toEqual([first.replaceAll('**', '*'), second]);
  });

  test('is sent once, though several processes look for it', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500032');
    const context = jobContextOf(here.app);
    const { due } = await deliverMessage.sweep(context);
    await Promise.all([...due, ...due, ...due].map((data) => deliverMessage.run(data, context)));
    expect(sent()).toEqual(['Hello.']);
  });

  test('waits while the provider fails, and what comes later waits behind it', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500033', 'one');
    here.zApi.fault = { status: 503 };
    await deliverDue(here.app);
    await replyFor(connection, '491500033', 'two');
    await deliverDue(here.app);
    expect(await states(connection)).toEqual(['queued SEND_FAILED', 'queued']);
    here.zApi.fault = undefined;
    here.clock.advance(2_000);
    await deliverDue(here.app);
    expect(sent()).toEqual(['one', 'two']);
    expect(await states(connection)).toEqual(['sent', 'sent']);
  });

  test('is given up after some attempts, and the next one goes out', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500034', 'one');
    here.zApi.fault = { status: 503 };
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await deliverDue(here.app);
      here.clock.advance(HOUR_MS);
    }
    expect(await states(connection)).toEqual(['failed SEND_FAILED']);
    expect(await here.deliveries(connection)).toMatchObject([{ attempts: 6 }]);
    here.zApi.fault = undefined;
    await replyFor(connection, '491500034', 'two');
    await deliverDue(here.app);
    expect(sent()).toEqual(['two']);
  });

  test('that the provider may have taken is not sent a second time', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500035');
    here.zApi.fault = { hangUpAfter: true };
    await deliverDue(here.app);
    here.zApi.fault = undefined;
    here.clock.advance(24 * HOUR_MS);
    await deliverDue(here.app);
    expect(sent()).toEqual(['Hello.']);
    expect(await states(connection)).toEqual(['failed OUTCOME_UNKNOWN']);
  });

  test('whose process died while it sent is not sent again; a status of the provider says what became of it', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500036');
    const [row] = await here.deliveries(connection);
    await sql`update deliveries set status = 'sending', attempts = 1, due_at = ${here.clock.now()} where id = ${row?.id}`.execute(
      here.app.workspace.db,
    );
    await deliverDue(here.app);
    expect(sent()).toEqual([]);
    expect(await states(connection)).toEqual(['failed OUTCOME_UNKNOWN']);
    await here.receive(connection, statusEvent('w1', 'delivered', { deliveryId: row?.id ?? null }));
    expect(await states(connection)).toEqual(['delivered']);
  });

  test('has the status that came before its sending was stored', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500037');
    const { db, workspaceId } = here.app.workspace;
    await sql`update deliveries set status = 'sending', due_at = now() + interval '1 hour' where connection_id = ${connection.id}`.execute(
      db,
    );
    // Z-API makes the id of the message from its number and body, so a message that is equal has it before.
    await sql`update deliveries set status = 'queued', due_at = ${here.clock.now()} where connection_id = ${connection.id}`.execute(
      db,
    );
    here.zApi.fault = undefined;
    const now = here.clock.now();
    const body = { phone: '491500037', message: 'Hello.', delayMessage: 1 };
    const { createHash } = await import('node:crypto');
    const id = createHash('sha256')
      .update(`0 ${JSON.stringify(body)}`)
      .digest('hex')
      .slice(0, 20)
      .toUpperCase();
    await sql`insert into early_receipts (workspace_id, connection_id, provider_message_id, status, at)
      values (${workspaceId}, ${connection.id}, ${id}, 'read', ${now})`.execute(db);
    await deliverDue(here.app);
    expect(await here.deliveries(connection)).toMatchObject([{ status: 'read', provider_message_id: id }]);
    expect((await sql`select from early_receipts`.execute(db)).rows).toEqual([]);
  });
});

describe('WhatsApp’s 24 hours', () => {
  /** The connection becomes one to the Cloud API. */
  async function asWhatsapp({ id }: ChannelConnectionRow, template: object = {}) {
    const { phoneNumberId, accessToken, appSecret, verifyToken } = here.whatsapp;
    const { workspaceId, db } = here.app.workspace;
    const secret = { accessToken, appSecret, verifyToken };
    const credentials = sealChannelCredentials(here.app.service.runtime.secrets, workspaceId, id, secret);
    const config = JSON.stringify({ phoneNumberId, ...template });
    await db
      .updateTable('channel_connections')
      .set({ channel_type: 'whatsapp', config, credentials })
      .where('id', '=', id)
      .execute();
  }

  test('within them a reply is sent as it is, outside of them the template of the connection, once for a reply', async () => {
    const connection = await here.connect({ messageSplittingEnabled: true });
    await asWhatsapp(connection, { templateName: 'come_back', templateLanguage: 'en' });
    here.whatsapp.templates.add('come_back');
    await replyFor(connection, '491500004940', 'Within.');
    here.clock.advance(24 * HOUR_MS - 1);
    await deliverDue(here.app);
    const reply = `${'The first part of it. '.repeat(3)}\n\n${'The second part of it. '.repeat(3)}`;
    await replyFor(connection, '491500004940', reply);
    here.clock.advance(24 * HOUR_MS);
    await deliverDue(here.app);
    expect(here.whatsapp.messages.map(({ type }) => type)).toEqual(['text', 'template']);
    expect(await states(connection)).toEqual(['sent', 'sent', 'dropped OUTSIDE_WINDOW']);
    expect(here.whatsapp.messages.map(({ callbackData }) => callbackData)).toEqual(
      (await here.deliveries(connection)).slice(0, 2).map(({ id }) => id),
    );
  });

  test('a reply outside of them is dropped with its reason, and so is a follow-up', async () => {
    const connection = await here.connect({
      followUpEnabled: true,
      followUpAfterHours: 48,
      followUpIntervalMinutes: 60,
      followUpMaxAttempts: 1,
      followUpPrompt: 'Ask again.',
    });
    await replyFor(connection, '491500041');
    await asWhatsapp(connection);
    here.clock.advance(24 * HOUR_MS);
    await deliverDue(here.app);
    expect(await here.deliveries(connection)).toMatchObject([
      { status: 'dropped', error_code: 'OUTSIDE_WINDOW', is_follow_up: false },
    ]);
    here.clock.advance(48 * HOUR_MS);
    await sendDue(here.app);
    await deliverDue(here.app);
    expect((await here.deliveries(connection)).slice(1)).toMatchObject([
      { status: 'dropped', error_code: 'OUTSIDE_WINDOW', is_follow_up: true },
    ]);
    expect(sent()).toEqual([]);
  });

  test('a reply over Z-API has no such limit', async () => {
    const connection = await here.connect();
    await replyFor(connection, '491500042');
    here.clock.advance(72 * HOUR_MS);
    await workInbox(here.app);
    expect(sent()).toEqual(['Hello.']);
  });
});

test('a connection that is switched off or deleted sends nothing', async () => {
  const connection = await here.connect();
  await replyFor(connection, '491500051');
  await sql`update channel_connections set is_active = false where id = ${connection.id}`.execute(
    here.app.workspace.db,
  );
  await deliverDue(here.app);
  expect(await states(connection)).toEqual(['dropped CONNECTION_INACTIVE']);
});
