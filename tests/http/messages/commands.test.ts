import { makeCommand } from '../../support/agents/agentCommands.ts';
import { publish } from '../../support/agents/agents.ts';
import type { TestClock } from '../../support/http/app.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { WIRES } from '../../support/turns/exchanges.ts';
import { begun, publishedAgent, said, send, transcript } from './turns.ts';

const here = useModelApp();

const PROMPT = 'Sum up what follows in one line.';

/** A published agent with the command `/sum-up`. */
async function summarizer(aiModelPublicId?: string): Promise<{ agentId: string; commandId: string }> {
  const agentId = await publishedAgent(here.app, aiModelPublicId ? { aiModelPublicId } : {});
  const { publicId } = await makeCommand(here.app, agentId, { command: 'sum-up', prompt: PROMPT });
  return { agentId, commandId: publicId };
}
const used = async (agentId: string, commandId: string) => {
  const { body } = await here.app.api('get', `/agents/${agentId}/commands/${commandId}`).expect(200);
  return { usageCount: body.usageCount, lastUsedAt: body.lastUsedAt };
};
/** What the model gets of a message that begins a conversation. */
async function seenOf(agentId: string, content: string): Promise<string> {
  await send(here.app, agentId, { content }).expect(200);
  return said(here.server.requests.at(-1)).at(-1) ?? '';
}

describe.each(WIRES)('%s', (_wire, model) => {
  test('a command is replaced by its prompt, followed by the text typed after it; later turns see the same', async () => {
    const { agentId } = await summarizer(model);
    const { body } = await send(here.app, agentId, { content: '/sum-up  Oslo is in Norway. ' }).expect(200);
    const { conversationId } = body;
    await send(here.app, agentId, { content: 'Shorter.', conversationId }).expect(200);
    const expanded = `user: ${PROMPT}\n\nOslo is in Norway.`;
    expect(said(here.server.requests[0])).toEqual([expanded]);
    expect(said(here.server.requests[1])).toEqual([expanded, 'assistant: Hello from the model.', 'user: Shorter.']);
    // The stored message is the one that the user typed.
    expect((await transcript(here.app, conversationId))[0]).toBe('user: /sum-up  Oslo is in Norway. ');
  });
});

test('a command without further text is replaced by its prompt alone; further text may begin on a new line', async () => {
  const { agentId } = await summarizer();
  expect(await seenOf(agentId, '/sum-up')).toBe(`user: ${PROMPT}`);
  expect(await seenOf(agentId, '/sum-up\nOne.\n\n  Two.')).toBe(`user: ${PROMPT}\n\nOne.\n\n  Two.`);
  expect(await seenOf(agentId, '\n /sum-up\tOne.')).toBe(`user: ${PROMPT}\n\nOne.`);
});

test('a command works in a later message as in the first', async () => {
  const { agentId } = await summarizer();
  const conversationId = await begun(here.app, agentId);
  await send(here.app, agentId, { content: '/sum-up All of it.', conversationId }).expect(200);
  expect(said(here.server.requests[1]).at(-1)).toBe(`user: ${PROMPT}\n\nAll of it.`);
});

test('the text after a command is not expanded: neither other commands nor variables in it', async () => {
  const { agentId } = await summarizer();
  await makeCommand(here.app, agentId, { command: 'other', prompt: 'Other.' });
  expect(await seenOf(agentId, '/sum-up /other $& {{city}}')).toBe(`user: ${PROMPT}\n\n/other $& {{city}}`);
});

describe('the use of a command is counted', () => {
  test('once for each message, with the time, also when the model fails', async () => {
    const { agentId, commandId } = await summarizer();
    expect(await used(agentId, commandId)).toEqual({ usageCount: 0, lastUsedAt: null });
    const conversationId = await begun(here.app, agentId, '/sum-up One.');
    const first = here.app.clock.now().toISOString();
    expect(await used(agentId, commandId)).toEqual({ usageCount: 1, lastUsedAt: first });
    (here.app.clock as TestClock).advance(60_000);
    here.server.script({ status: 500 });
    await send(here.app, agentId, { content: '/sum-up Two.', conversationId }).expect(502);
    await send(here.app, agentId, { content: 'Three.', conversationId }).expect(200);
    expect(await used(agentId, commandId)).toEqual({ usageCount: 2, lastUsedAt: here.app.clock.now().toISOString() });
  });

  test('exactly, when many messages use it at the same time, in new conversations and in one', async () => {
    const { agentId, commandId } = await summarizer();
    const conversationId = await begun(here.app, agentId);
    const sent = Array.from({ length: 30 }, (_, place) =>
      send(here.app, agentId, { content: '/sum-up It.', ...(place % 3 === 0 ? { conversationId } : {}) }),
    );
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect((await used(agentId, commandId)).usageCount).toBe(30);
  });

  test('not when the message is refused', async () => {
    const { agentId, commandId } = await summarizer();
    const conversationId = await begun(here.app, agentId);
    await here.app.workspace.db
      .updateTable('conversations')
      .set({ is_ended: true })
      .where('id', '=', conversationId)
      .execute();
    await send(here.app, agentId, { content: '/sum-up It.', conversationId }).expect(422);
    expect((await used(agentId, commandId)).usageCount).toBe(0);
  });
});

describe('text stays as typed when it', () => {
  test.each([
    '/',
    '//sum-up It.',
    '/ sum-up It.',
    '/SUM-UP It.',
    '/Sum-up It.',
    '/sum-upIt.',
    '/sum-up.',
    '/sum-up: It.',
    '/sum',
    '/sum-up-',
    '/unknown It.',
    `/${'a'.repeat(101)}`,
    'Please /sum-up It.',
    'sum-up It.',
  ])('only resembles a command: %j', async (content) => {
    const { agentId, commandId } = await summarizer();
    expect(await seenOf(agentId, content)).toBe(`user: ${content}`);
    expect((await used(agentId, commandId)).usageCount).toBe(0);
  });

  test('names a command that was switched off or deleted', async () => {
    const { agentId, commandId } = await summarizer();
    const path = `/agents/${agentId}/commands/${commandId}`;
    await here.app.api('patch', path).send({ status: 'inactive' }).expect(200);
    expect(await seenOf(agentId, '/sum-up It.')).toBe('user: /sum-up It.');
    await here.app.api('patch', path).send({ status: 'active', prompt: 'Shorter:' }).expect(200);
    expect(await seenOf(agentId, '/sum-up It.')).toBe('user: Shorter:\n\nIt.');
    await here.app.api('delete', path).expect(204);
    expect(await seenOf(agentId, '/sum-up It.')).toBe('user: /sum-up It.');
  });

  test('names a command of another agent, or of another workspace', async () => {
    await summarizer();
    const theirs = await publishedAgent(here.app, {}, here.app.stranger.apiKey);
    await makeCommand(here.app, theirs, { command: 'sum-up', prompt: PROMPT }, here.app.stranger.apiKey);
    const other = await publishedAgent(here.app);
    expect(await seenOf(other, '/sum-up It.')).toBe('user: /sum-up It.');
  });
});

test('commands do not belong to versions: a new one works at once, and publishing changes none', async () => {
  const { agentId, commandId } = await summarizer();
  expect(await seenOf(agentId, '/sum-up It.')).toBe(`user: ${PROMPT}\n\nIt.`);
  await publish(here.app, agentId);
  expect(await seenOf(agentId, '/sum-up It.')).toBe(`user: ${PROMPT}\n\nIt.`);
  expect((await used(agentId, commandId)).usageCount).toBe(2);
});
