import { inBrowser, say, shown, useChatPages } from '../../support/browser/chatPage.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply } from '../../support/servers/modelServer.ts';

inBrowser('a conversation on the chat page', () => {
  const here = useChatPages();
  const live = 'main .message.live .bubble';

  test('is streamed, goes on after a reload in the middle, and is there when the visitor comes back', async () => {
    const chat = await here.open({ config: { title: 'Harbour Bikes', welcomeMessage: 'Hello from **us**.' } });
    const context = await here.somebody();
    const page = await here.visit(context, chat);
    expect(await page.title()).toBe('Harbour Bikes');
    expect(await shown(page)).toEqual(['Hello from us.']);
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    await say(page, 'Where are you?');
    await here.server.received(1);
    gate.push('At the *har');
    await page.locator(live).getByText('At the *har').waitFor();
    await page.reload();
    await page.locator(live).getByText('At the *har').waitFor();
    gate.push('bour*, ');
    await page.locator(live).getByText('At the harbour,').waitFor();
    gate.push('number 5.');
    gate.end();
    await page.locator(live).waitFor({ state: 'detached' });
    expect(await shown(page)).toEqual(['Hello from us.', 'Where are you?', 'At the harbour, number 5.']);
    const later = await here.visit(context, chat);
    expect(await shown(later)).toEqual(['Hello from us.', 'Where are you?', 'At the harbour, number 5.']);
    const stranger = await here.visit(await here.somebody(), chat);
    expect(await shown(stranger)).toEqual(['Hello from us.']);
    expect(here.broken).toEqual([]);
  });

  test('is the same in two tabs', async () => {
    const chat = await here.open();
    const context = await here.somebody();
    const first = await here.visit(context, chat);
    const second = await here.visit(context, chat);
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    await say(first, 'From the first tab');
    await here.server.received(1);
    gate.push('To both');
    for (const page of [first, second]) await page.locator(live).getByText('To both').waitFor();
    gate.end();
    for (const page of [first, second]) {
      await page.locator(live).waitFor({ state: 'detached' });
      expect(await shown(page)).toEqual(['From the first tab', 'To both']);
    }
    await say(second, 'From the second');
    await poll(
      () => shown(first),
      (texts) => texts.length === 4,
    );
    expect(await shown(first)).toEqual(['From the first tab', 'To both', 'From the second', 'Hello from the model.']);
  });

  test('waits while the visitor is offline, in order, also over a reload, and nothing is sent twice', async () => {
    const chat = await here.open();
    const context = await here.somebody();
    const page = await here.visit(context, chat);
    await say(page, 'zero');
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await say(page, 'one');
    await say(page, 'two');
    expect(await page.getByText('Sending…').count()).toBe(2);
    await context.setOffline(false);
    await poll(
      () => shown(page, 'user'),
      (texts) => texts.length === 3,
    );
    await page.getByText('Sending…').first().waitFor({ state: 'detached' });
    await page.reload();
    await poll(
      () => shown(page, 'assistant'),
      (texts) => texts.length >= 2,
    );
    expect(await shown(page, 'user')).toEqual(['zero', 'one', 'two']);
    const { db } = here.app.workspace;
    const stored = await db
      .selectFrom('inbound_messages')
      .selectAll()
      .where('connection_id', '=', chat.connectionId)
      .execute();
    expect(stored).toHaveLength(3);
  });

  test('sends a message once when the answer to it is lost', async () => {
    const chat = await here.open();
    const context = await here.somebody();
    const page = await here.visit(context, chat);
    let lost = 0;
    await context.route('**/messages', async (route) => {
      if (lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await say(page, 'only once');
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    await page.reload();
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    expect(lost).toBe(1);
    expect(await shown(page)).toEqual(['only once', 'Hello from the model.']);
  });

  test('takes a message of 10,000 characters', async () => {
    const chat = await here.open();
    const page = await here.visit(await here.somebody(), chat);
    const text = 'Ten thousand characters. '.repeat(400).trim().padEnd(10_000, '!');
    await say(page, text);
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    expect((await shown(page, 'user'))[0]).toBe(text);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280);
    await page.getByRole('textbox').fill('x'.repeat(32_001));
    await page.getByText('The message is too long: 32001 of 32000 characters.').waitFor();
    expect(await page.locator('button.send').isDisabled()).toBe(true);
  });

  test('shows earlier messages, and stays where the reader is', async () => {
    const chat = await here.open();
    const page = await here.visit(await here.somebody(), chat);
    await say(page, 'first');
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    const { db, workspaceId } = here.app.workspace;
    const { id } = await db
      .selectFrom('conversations')
      .select('id')
      .where('connection_id', '=', chat.connectionId)
      .executeTakeFirstOrThrow();
    const values = Array.from({ length: 60 }, (_each, index) => ({
      workspace_id: workspaceId,
      id: crypto.randomUUID(),
      conversation_id: id,
      role: 'assistant' as const,
      content: `Number ${index}`,
    }));
    await db.insertInto('messages').values(values).execute();
    await page.reload();
    await page.getByText('Number 59', { exact: true }).waitFor();
    expect(await page.getByText('Number 10', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Earlier messages' }).click();
    await page.getByText('Number 10', { exact: true }).waitFor();
    await page.getByText('first', { exact: true }).waitFor();
    expect(await shown(page)).toHaveLength(62);
  });

  test('says in plain words when it was too much, and sends what waits', async () => {
    const chat = await here.open();
    const context = await here.somebody();
    const page = await here.visit(context, chat);
    let refused = 0;
    await context.route('**/messages', (route) => {
      refused += 1;
      if (refused > 1) return route.continue();
      return route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, json: { code: 'RATE_LIMITED' } });
    });
    await say(page, 'much');
    await page.getByText(/^That was a lot at once\. You can go on at \d\d:\d\d\./).waitFor();
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
  });
});
