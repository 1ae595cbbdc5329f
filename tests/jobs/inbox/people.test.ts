import { endPause } from '../../../db/queries/conversations/pause.ts';
import { decideAsOperator } from '../../../db/queries/turns/approvals.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { PERSON_PAUSE_MS } from '../../../domain/channels/echo.ts';
import type { InboundEvent } from '../../../integrations/channels/provider.ts';
import { continueConversation } from '../../../jobs/continueConversation.ts';
import { said, transcript } from '../../http/messages/turns.ts';
import { publish } from '../../support/agents/agents.ts';
import { link, postTool } from '../../support/agents/runtimeAgents.ts';
import { messageEvent } from '../../support/channels/events.ts';
import { deliverDue, jobContextOf, useInbox, workInbox } from '../../support/channels/inbox.ts';
import { answering, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { toolCall } from '../../support/turns/exchanges.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';

/* The way of a message through a channel, where people take over, decide, and turn out to be one. */

const here = useInbox();
let tools: ToolServer;
beforeAll(async () => {
  tools = await startToolServer();
  tools.on('/pay', answering('{"paid":true}'));
});
afterAll(() => tools.close());

type Connection = Awaited<ReturnType<typeof here.connect>>;
const sent = () => here.zApi.messages.map(({ content }) => content);
const only = async (connection: Connection) => {
  const found = await here.conversations(connection);
  expect(found).toHaveLength(1);
  return found[0]?.id ?? '';
};

/** A message is received a second after the one before it, and everything that follows from it is done. */
async function say(connection: Connection, person: string, text: string) {
  here.clock.advance(1_000);
  await here.receive(connection, messageEvent(person, { text, sentAt: here.clock.now().toISOString() }));
  await workInbox(here.app);
}
async function writeOnThePhone(connection: Connection, person: string, text: string) {
  here.clock.advance(1_000);
  const event: InboundEvent = {
    kind: 'echo',
    providerMessageId: `echo ${text}`,
    identities: [{ kind: 'phone', value: person }],
    text,
    sentAt: here.clock.now().toISOString(),
  };
  await here.receive(connection, event);
  await workInbox(here.app);
}

test('a reply that hands over goes out, what follows is history, and the agent knows it when it is resumed', async () => {
  const connection = await here.connect();
  here.server.script({ reply: '', toolCalls: [toolCall('hand_over')] }, { reply: 'Somebody will answer.' });
  await say(connection, '4915112345', 'I want a person.');
  expect(sent()).toEqual(['Somebody will answer.']);
  await say(connection, '4915112345', 'My order is 4711.');
  const id = await only(connection);
  await endPause(here.app.workspace.db, here.app.workspace.workspaceId, id);
  await workInbox(here.app);
  expect(here.server.requests).toHaveLength(2);
  expect((await here.inbound(connection)).map(({ status }) => status)).toEqual(['answered', 'ignored']);
  here.server.script({ reply: 'It is on its way.' });
  await say(connection, '4915112345', 'And now?');
  expect(said(here.server.requests.at(-1)).join('\n')).toContain('My order is 4711.');
  expect(sent()).toEqual(['Somebody will answer.', 'It is on its way.']);
});

test('what somebody writes on the phone keeps the agent silent for 12 hours, and is history afterwards', async () => {
  const connection = await here.connect();
  await say(connection, '4916112345', 'Hello.');
  await writeOnThePhone(connection, '4916112345', 'This is Ann. I will look.');
  await say(connection, '4916112345', 'Thank you.');
  expect(sent()).toEqual(['Hello from the model.']);
  const id = await only(connection);
  expect(await transcript(here.app, id)).toEqual([
    'user: Hello.',
    'assistant: Hello from the model.',
    'assistant: This is Ann. I will look.',
    'user: Thank you.',
  ]);
  here.clock.advance(PERSON_PAUSE_MS);
  await say(connection, '4916112345', 'Any news?');
  expect(sent()).toHaveLength(2);
  expect(said(here.server.requests.at(-1)).join('\n')).toContain('This is Ann. I will look.');
});

test('the customer who asks for a refund cannot approve it; when an operator does, the reply goes out', async () => {
  const connection = await here.connect();
  const { publicId } = await postTool(here.app, tools, '/pay', { requiresApproval: true });
  await link(here.app, connection.agent_id, 'http_tool', publicId);
  await publish(here.app, connection.agent_id);
  here.server.script({ reply: '', toolCalls: [payCall('Oslo')] }, { reply: 'Ein Mensch entscheidet.' });
  await say(connection, '4917112345', 'Ich will mein Geld zurück.');
  here.server.script({ reply: 'Das entscheide nicht ich.' });
  await say(connection, '4917112345', 'Ja');
  expect(tools.received).toEqual([]);
  const { db, workspaceId } = here.app.workspace;
  const approval = await db
    .selectFrom('approvals')
    .select('id')
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  await inTransaction(here.app.database.database.system, (trx) =>
    decideAsOperator(trx, approval.id, 'approved', here.clock.now()),
  );
  here.server.script({ reply: 'Das Geld ist unterwegs.' });
  await continueConversation.run({ workspaceId, conversationId: await only(connection) }, jobContextOf(here.app));
  await deliverDue(here.app);
  expect(tools.received).toHaveLength(1);
  expect(sent()).toEqual(['Ein Mensch entscheidet.', 'Das entscheide nicht ich.', 'Das Geld ist unterwegs.']);
});

test('a hidden address and a number that turn out to be one person have one conversation with what both said', async () => {
  const connection = await here.connect();
  const receive = async (text: string, ...identities: { kind: 'lid' | 'phone'; value: string }[]) => {
    here.clock.advance(1_000);
    const event = messageEvent('4918', { text, sentAt: here.clock.now().toISOString() });
    await here.receive(connection, { ...event, identities });
    await workInbox(here.app);
  };
  const [lid, phone] = [
    { kind: 'lid' as const, value: '77@lid' },
    { kind: 'phone' as const, value: '4918' },
  ];
  await receive('From the address.', lid);
  await receive('From the number.', phone);
  expect(await here.conversations(connection)).toHaveLength(2);
  await receive('From both.', phone, lid);
  const id = await only(connection);
  const own = (await transcript(here.app, id)).filter((line) => line.startsWith('user'));
  expect(own).toEqual(['user: From the address.', 'user: From the number.', 'user: From both.']);
  expect(said(here.server.requests.at(-1)).join('\n')).toContain('From the address.');
  expect((await here.inbound(connection)).map(({ status }) => status)).toEqual(['answered', 'answered', 'answered']);
});
