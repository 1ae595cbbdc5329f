import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { inBrowser, say, shown, useChatPages } from '../../support/browser/chatPage.ts';
import { openChatOf } from '../../support/channels/webChat.ts';
import { poll } from '../../support/poll.ts';
import { answering, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';

inBrowser('people decide on the chat page:', () => {
  const here = useChatPages();
  let tools: ToolServer;
  let toolId: string | undefined;
  beforeAll(async () => {
    tools = await startToolServer();
    tools.on('/pay', answering('{"paid":true}'));
  });
  beforeEach(() => {
    tools.received.length = 0;
  });
  afterAll(() => tools.close());

  /** The chat of an agent that may pay when somebody approves, `by` whom the operator says. */
  async function payingChat(by: 'user' | 'operator' | null) {
    toolId ??= (await postTool(here.app, tools, '/pay', { requiresApproval: true })).publicId;
    const agentId = await agentWith(here.app, [{ kind: 'http_tool', id: toolId }]);
    await here.app.workspace.db.updateTable('agents').set({ approvals_by: by }).where('id', '=', agentId).execute();
    return openChatOf(here.app, agentId);
  }

  test.each([
    ['Yes, do it', 1],
    ['No', 0],
  ])('the visitor presses “%s” where the visitor may decide', async (name, made) => {
    const page = await here.visit(await here.somebody(), await payingChat('user'));
    here.server.script({ reply: 'I will pay.', toolCalls: [payCall('Oslo')] }, { reply: 'It is settled.' });
    await say(page, 'Pay Oslo');
    await page.getByRole('group', { name: 'May I do this?' }).getByText('Oslo').waitFor();
    await page.getByRole('button', { name, exact: true }).click();
    await poll(
      () => shown(page, 'assistant'),
      (texts) => texts.at(-1) === 'It is settled.',
    );
    expect(await page.getByRole('group', { name: 'May I do this?' }).count()).toBe(0);
    expect(tools.received).toHaveLength(made);
  });

  test('nobody but a person decides where nothing else is set, and the visitor does not see what', async () => {
    const page = await here.visit(await here.somebody(), await payingChat(null));
    here.server.script({ reply: 'I will ask.', toolCalls: [payCall('Oslo')] });
    await say(page, 'Pay Oslo');
    await page.getByText('A person will decide on this.').waitFor();
    expect(await page.getByRole('button', { name: 'Yes, do it' }).count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toContain('pay\n');
    expect(tools.received).toEqual([]);
  });

  test('the visitor asks for a person, and goes on with the assistant', async () => {
    const chat = await here.open();
    const page = await here.visit(await here.somebody(), chat);
    await say(page, 'Hello');
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    await page.getByRole('button', { name: 'Ask for a person' }).click();
    await page.getByText('A person will answer here.').waitFor();
    const { db } = here.app.workspace;
    const read = () =>
      db
        .selectFrom('conversations')
        .selectAll()
        .where('connection_id', '=', chat.connectionId)
        .executeTakeFirstOrThrow();
    expect(await read()).toMatchObject({ is_paused: true, paused_by: 'user' });
    await say(page, 'Anybody there?');
    await poll(
      () => read(),
      ({ message_count }) => message_count === 3,
    );
    const { workspaceId } = here.app.workspace;
    const { id } = await read();
    const content = 'This is Ada. How can I help?';
    await db
      .insertInto('messages')
      .values({
        workspace_id: workspaceId,
        id: crypto.randomUUID(),
        conversation_id: id,
        role: 'assistant',
        author: 'operator',
        content,
      })
      .execute();
    await page.locator('.who').getByText('Team').waitFor();
    expect(await shown(page)).toEqual(['Hello', 'Hello from the model.', 'Anybody there?', content]);
    await page.getByRole('button', { name: 'Go on with the assistant' }).click();
    await page.getByText('A person will answer here.').waitFor({ state: 'hidden' });
    expect(await read()).toMatchObject({ is_paused: false });
    await say(page, 'Thanks');
    await poll(
      () => shown(page),
      (texts) => texts.length === 6,
    );
  });
});
