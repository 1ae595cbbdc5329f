import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../../core/ids.ts';
import { FileMissing } from '../../../integrations/storage/storage.ts';
import { forgetInbound } from '../../../jobs/upkeep.ts';
import { said, transcript } from '../../http/messages/turns.ts';
import { messageEvent } from '../../support/channels/events.ts';
import { jobContextOf, useInbox, workInbox } from '../../support/channels/inbox.ts';

const here = useInbox();

const at = (seconds: number) => ({ sentAt: new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString() });

describe('a message of a person', () => {
  test('is stored, answered and sent, once', async () => {
    const connection = await here.connect();
    const event = messageEvent('4915112345', { text: 'Where is my order?' });
    await here.receive(connection, event, event);
    await workInbox(here.app);
    await here.receive(connection, event);
    await workInbox(here.app);
    const [conversation] = await here.conversations(connection);
    expect(conversation).toMatchObject({ channel: 'z_api', external_user_id: '4915112345', turn_id: null });
    expect(await transcript(here.app, conversation?.id ?? '')).toEqual([
      'user: Where is my order?',
      'assistant: Hello from the model.',
    ]);
    expect(here.zApi.messages.map(({ phone, content }) => [phone, content])).toEqual([
      ['4915112345', 'Hello from the model.'],
    ]);
    expect(await here.inbound(connection)).toMatchObject([{ status: 'answered' }]);
    expect(await here.deliveries(connection)).toMatchObject([
      { status: 'sent', provider_message_id: here.zApi.messages[0]?.messageId },
    ]);
    expect(here.server.requests).toHaveLength(1);
  });

  const forget = () => forgetInbound(here.app.service.runtime.files).run(jobContextOf(here.app));

  test('that failed is forgotten with its files', async () => {
    const connection = await here.connect();
    const { files } = here.app.service.runtime;
    const key = `${connection.workspace_id}/inbound/one`;
    const copy = join(tmpdir(), newId());
    await files.put(key, Buffer.from('A picture.'));
    await here.receive(connection, messageEvent('4915112347', { text: 'See.' }));
    await here.app.workspace.db
      .updateTable('inbound_messages')
      .set({ status: 'failed', settled_at: here.clock.now(), files: JSON.stringify([{ key }]) })
      .where('connection_id', '=', connection.id)
      .execute();
    await forget();
    expect(await here.inbound(connection)).toHaveLength(1);
    await expect(files.fetch(key, copy)).resolves.toBeUndefined();
    here.clock.advance(31 * 86_400_000);
    await forget();
    expect(await here.inbound(connection)).toEqual([]);
    await expect(files.fetch(key, copy)).rejects.toThrow(FileMissing);
    await rm(copy, { force: true });
  });

  test('is forgotten 30 days after it was answered; the conversation stays', async () => {
    const connection = await here.connect();
    await here.receive(connection, messageEvent('4915112346', { text: 'Hello?' }));
    await workInbox(here.app);
    await forget();
    expect(await here.inbound(connection)).toHaveLength(1);
    here.clock.advance(31 * 86_400_000);
    await here.receive(
      connection,
      messageEvent('4915112346', { text: 'Still there?', sentAt: here.clock.now().toISOString() }),
    );
    await forget();
    expect(await here.inbound(connection)).toMatchObject([{ status: 'received' }]);
    await workInbox(here.app);
    const [conversation] = await here.conversations(connection);
    expect(await transcript(here.app, conversation?.id ?? '')).toEqual([
      'user: Hello?',
      'assistant: Hello from the model.',
      'user: Still there?',
      'assistant: Hello from the model.',
    ]);
  });

  test('several that wait are answered by one turn, in the order in which they were sent', async () => {
    const connection = await here.connect();
    await here.receive(
      connection,
      messageEvent('49170', { text: 'third', ...at(3) }),
      messageEvent('49170', { text: 'first', ...at(1) }),
      messageEvent('49170', { text: 'second', ...at(2) }),
    );
    await workInbox(here.app);
    expect(said(here.server.requests[0]).at(-1)).toBe('user: first\n\nsecond\n\nthird');
    const [conversation] = await here.conversations(connection);
    expect(await transcript(here.app, conversation?.id ?? '')).toEqual([
      'user: first',
      'user: second',
      'user: third',
      'assistant: Hello from the model.',
    ]);
    // The next turn reads them as history.
    await here.receive(connection, messageEvent('49170', { text: 'fourth', ...at(4) }));
    await workInbox(here.app);
    expect(said(here.server.requests[1]).slice(-5)).toEqual([
      'user: first',
      'user: second',
      'user: third',
      'assistant: Hello from the model.',
      'user: fourth',
    ]);
  });
});
