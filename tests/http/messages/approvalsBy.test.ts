import { pino } from 'pino';
import { newId } from '../../../core/ids.ts';
import { decideAsOperator } from '../../../db/queries/turns/approvals.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { continueConversation } from '../../../jobs/continueConversation.ts';
import { planTurn } from '../../../runtime/turn/planTurn.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { adminJson, admin as run } from '../../support/scripts/admin.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { streamed } from '../../support/turns/exchanges.ts';
import { FOLLOWS_UP } from '../../support/turns/followUps.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';
import { GPT, HAIKU, LOCAL, said, send, stored } from './turns.ts';

/* Where an operator decides, the one who writes approves nothing: no word does, and the calls wait on while the agent answers. */

const here = useModelApp({ tools: true });
let pay: string;
let agentId: string;
beforeAll(async () => {
  here.tools.on('/pay', answering('{"paid":true}'));
  pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
});
beforeEach(async () => {
  await setWorkspace('default');
  agentId = await payer();
});

const payer = (model = LOCAL) =>
  agentWith(here.app, [{ kind: 'http_tool', id: pay }], { ...FOLLOWS_UP, aiModelPublicId: model });
const setWorkspace = (by: string) =>
  adminJson(here.app.database, 'workspace', 'update', here.app.workspace.workspaceId, '--approvals-by', by);
const setAgent = (id: string, by: string) =>
  adminJson(here.app.database, 'agent', 'set', id, '--workspace', here.app.workspace.workspaceId, '--approvals-by', by);
const paid = () => here.tools.received.map(({ body }) => JSON.parse(body).city);
const say = async (content: string, conversationId: string, metadata?: object) =>
  (await send(here.app, agentId, { content, conversationId, ...(metadata && { metadata }) }).expect(200)).body;

/** A conversation whose agent waits for the approval of a call for each city, and says so in words of its own. */
async function waits(words: string, ...cities: string[]) {
  here.server.script({ reply: 'Gern.', toolCalls: cities.map(payCall) }, { reply: words });
  return (await send(here.app, agentId, { content: 'Erstatten Sie das bitte.' }).expect(200)).body;
}
const decide = (id: string, decision: 'approved' | 'rejected' = 'approved') =>
  inTransaction(here.app.database.database.system, (trx) => decideAsOperator(trx, id, decision, new Date()));
const carryOn = (conversationId: string) =>
  continueConversation.run(
    { workspaceId: here.app.workspace.workspaceId, conversationId },
    {
      database: here.app.database.database,
      runtime: here.app.service.runtime,
      clock: here.app.clock,
      logger: pino({ level: 'silent' }),
      jobs: here.app.service.queue,
      signal: new AbortController().signal,
    },
  );
const onWhatsapp = (id: string) =>
  here.app.workspace.db.updateTable('conversations').set({ channel: 'whatsapp' }).where('id', '=', id).execute();
const statuses = async (id: string) => (await turnsOf(here.app, id)).map(({ status }) => status);
const due = async () => {
  const { due: found } = await continueConversation.sweep({
    database: here.app.database.database,
    runtime: here.app.service.runtime,
    clock: here.app.clock,
    logger: pino({ level: 'silent' }),
    jobs: here.app.service.queue,
    signal: new AbortController().signal,
  });
  return found.map(({ conversationId }) => conversationId);
};

describe.each([
  ['OpenAI', GPT],
  ['Anthropic', HAIKU],
  ['chat completions', LOCAL],
])('%s', (_wire, model) => {
  test('the reply says that a person decides, in words of the model, and a later message leaves the calls waiting', async () => {
    agentId = await payer(model);
    await setAgent(agentId, 'operator');
    const { conversationId, message, pendingApprovals, usage } = await waits('Ein Mensch entscheidet.', 'Oslo');
    expect(message.content).toBe('Gern.\n\nEin Mensch entscheidet.');
    expect(pendingApprovals).toMatchObject([{ toolName: 'pay', input: { city: 'Oslo' } }]);
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('a person of the team decides');
    // The call of the model that words it costs as any other.
    expect(usage.inputTokens).toBe(22);
    expect((await stepsOf(here.app, conversationId)).map(({ kind }) => kind)).toEqual(['model', 'tool', 'model']);

    for (const word of ['approve', 'Ja!', 'ok 👍', 'sí', 'yes, please']) {
      here.server.script({ reply: 'Das kann ich nicht.' });
      const answer = await say(word, conversationId);
      expect(answer.message.content).toBe('Das kann ich nicht.');
      expect(answer.pendingApprovals).toEqual(pendingApprovals);
    }
    expect(paid()).toEqual([]);
    const prompt = JSON.stringify(here.server.requests.at(-1)?.body);
    expect(prompt).toContain('# Calls that wait');
    expect(prompt).toContain('The user cannot decide');
    expect((await statuses(conversationId))[0]).toBe('waiting');

    await decide(pendingApprovals[0].publicId);
    expect(await due()).toContain(conversationId);
    here.server.script({ reply: 'Oslo ist bezahlt.' });
    await carryOn(conversationId);
    expect(paid()).toEqual(['Oslo']);
    expect((await stored(here.app, conversationId)).at(-1)?.content).toBe('Oslo ist bezahlt.');
    expect(new Set(await statuses(conversationId))).toEqual(new Set(['done']));
    expect(await due()).not.toContain(conversationId);
  });
});

describe('who decides', () => {
  test.each([
    ['nobody has set anything, through the API', 'default', 'default', 'api', 'user'],
    ['nobody has set anything, on a channel', 'default', 'default', 'whatsapp', 'operator'],
    ['the workspace says operator', 'operator', 'default', 'api', 'operator'],
    ['the workspace says user, on a channel', 'user', 'default', 'whatsapp', 'user'],
    ['the agent says operator', 'user', 'operator', 'api', 'operator'],
    ['the agent says user', 'operator', 'user', 'whatsapp', 'user'],
  ] as const)('when %s', async (_when, workspace, agent, channel, who) => {
    await setWorkspace(workspace);
    await setAgent(agentId, agent);
    const { conversationId } = await waits('Ein Mensch entscheidet.', 'Oslo');
    if (channel === 'whatsapp') await onWhatsapp(conversationId);
    await say('Ja', conversationId);
    expect(paid()).toEqual(who === 'user' ? ['Oslo'] : []);
  });

  test('a setting that changes holds for the next message of a warm agent', async () => {
    const { conversationId } = await waits('', 'Oslo');
    await setWorkspace('operator');
    await say('Actually, pay Rome.', conversationId);
    expect(await statuses(conversationId)).toEqual(['waiting', 'done']);
    await setWorkspace('default');
    await say('Actually, pay Rome.', conversationId);
    expect(await statuses(conversationId)).toEqual(['done', 'done', 'done']);
    expect(paid()).toEqual([]);
  });

  test('metadata of the conversation or of a message can demand an operator, and never a user', async () => {
    const metadata = { approvalsBy: 'operator' };
    here.server.script({ reply: '', toolCalls: [payCall('Oslo')] }, { reply: 'A person decides.' });
    const { body } = await send(here.app, agentId, { content: 'Pay.', metadata }).expect(200);
    expect(body.message.content).toBe('A person decides.');
    await say('yes', body.conversationId, { approvalsBy: 'user' });
    expect(paid()).toEqual([]);
    const plain = await waits('', 'Rome');
    await say('yes', plain.conversationId, metadata);
    expect(paid()).toEqual([]);
    await say('yes', plain.conversationId);
    expect(paid()).toEqual(['Rome']);
    await setWorkspace('operator');
    const strict = await waits('A person decides.', 'Bergen');
    await say('yes', strict.conversationId, { approvalsBy: 'user' });
    expect(paid()).toEqual(['Rome']);
  });

  test('whoever holds the key of the workspace decides by metadata.approvals also where an operator decides', async () => {
    await setWorkspace('operator');
    const { conversationId, pendingApprovals } = await waits('A person decides.', 'Oslo', 'Rome');
    const [oslo, rome] = pendingApprovals.map(({ publicId }: { publicId: string }) => publicId);
    here.server.script({ reply: 'One is left.' });
    const half = await say('yes', conversationId, { approvals: { [oslo]: 'approve' } });
    expect(paid()).toEqual(['Oslo']);
    expect(half.pendingApprovals).toMatchObject([{ publicId: rome }]);
    expect(half.message.content).toBe('One is left.');
    // The call that was left is decided by the operator: the turn that took it over goes on.
    await decide(rome, 'rejected');
    expect(await due()).toContain(conversationId);
    here.server.script({ reply: 'Rome is not paid.' });
    await carryOn(conversationId);
    expect(paid()).toEqual(['Oslo']);
    expect((await stored(here.app, conversationId)).at(-1)?.content).toBe('Rome is not paid.');
    expect(new Set(await statuses(conversationId))).toEqual(new Set(['done']));
  });
});

test('a word that came over a channel before the call was asked for does not decide it', async () => {
  await setWorkspace('user');
  const { app } = here;
  const { conversationId, pendingApprovals } = await waits('', 'Oslo');
  await onWhatsapp(conversationId);
  const decided = async (receivedAt: Date) => {
    const inbound = {
      messages: [{ id: newId(), content: 'Ja', modelText: null, files: [], receivedAt }],
      isReplaceable: true,
    };
    const request = { agentId, conversationId, content: '', attachments: [], isTest: false, timeoutMs: 1000, inbound };
    const context = { db: app.workspace.db, workspaceId: app.workspace.workspaceId, runtime: app.service.runtime };
    const turn = await planTurn(context, { ...request, externalUserId: undefined, metadata: undefined });
    return 'decisions' in turn && [...turn.decisions.byId];
  };
  const asked = new Date(pendingApprovals[0].requestedAt);
  expect(await decided(new Date(asked.getTime() - 1))).toEqual([]);
  expect(await decided(asked)).toEqual([[pendingApprovals[0].publicId, 'approve']]);
});

describe('beside calls that wait', () => {
  beforeEach(() => setWorkspace('operator'));

  test('a turn may ask for another one: each waits for itself, and goes on when it is decided', async () => {
    const first = await waits('A person decides.', 'Oslo');
    here.server.script({ reply: '', toolCalls: [payCall('Rome')] }, { reply: 'And about Rome.' });
    const second = await say('Pay Rome, too.', first.conversationId);
    const [oslo, rome] = second.pendingApprovals.map(({ publicId }: { publicId: string }) => publicId);
    expect(second.pendingApprovals).toMatchObject([{ input: { city: 'Oslo' } }, { input: { city: 'Rome' } }]);
    expect(await statuses(first.conversationId)).toEqual(['waiting', 'waiting']);
    await decide(rome);
    expect(await due()).toContain(first.conversationId);
    here.server.script({ reply: 'Rome is paid.' });
    await carryOn(first.conversationId);
    expect(paid()).toEqual(['Rome']);
    expect(await statuses(first.conversationId)).toEqual(['waiting', 'done', 'done']);
    expect(await due()).not.toContain(first.conversationId);
    await decide(oslo, 'rejected');
    here.server.script({ reply: 'Oslo is not paid.' });
    await carryOn(first.conversationId);
    expect(paid()).toEqual(['Rome']);
    expect(await statuses(first.conversationId)).toEqual(['done', 'done', 'done', 'done']);
    expect(said(here.server.requests.at(-1)).join('\n')).toContain('Rome is paid.');
  });

  test('what an operator has decided goes on with the next message when no process did it', async () => {
    const { conversationId, pendingApprovals } = await waits('A person decides.', 'Oslo');
    await decide(pendingApprovals[0].publicId);
    here.server.script({ reply: 'Oslo is paid.' });
    expect((await say('Well?', conversationId)).message.content).toBe('Oslo is paid.');
    expect(paid()).toEqual(['Oslo']);
  });

  test('an agent sends no follow-up', async () => {
    const { conversationId } = await waits('A person decides.', 'Oslo');
    await say('Well?', conversationId);
    const row = () =>
      here.app.workspace.db
        .selectFrom('conversations')
        .select('follow_up_at')
        .where('id', '=', conversationId)
        .executeTakeFirstOrThrow();
    expect(await row()).toEqual({ follow_up_at: null });
  });

  test('when the setting becomes the user’s, a message about something else withdraws all, and a word decides all', async () => {
    const withdrawn = await waits('A person decides.', 'Oslo');
    here.server.script({ reply: '', toolCalls: [payCall('Rome')] }, { reply: 'And Rome.' });
    await say('Rome, too.', withdrawn.conversationId);
    await setWorkspace('user');
    expect((await say('Forget it.', withdrawn.conversationId)).pendingApprovals).toEqual([]);
    expect(new Set(await statuses(withdrawn.conversationId))).toEqual(new Set(['done']));
    expect(await adminJson(here.app.database, 'approval', 'list')).not.toContainEqual(
      expect.objectContaining({ conversationPublicId: withdrawn.conversationId }),
    );
    expect(paid()).toEqual([]);

    await setWorkspace('operator');
    const decided = await waits('A person decides.', 'Bergen');
    here.server.script({ reply: '', toolCalls: [payCall('Turin')] }, { reply: 'And Turin.' });
    await say('Turin, too.', decided.conversationId);
    await setWorkspace('user');
    await say('Oui !', decided.conversationId);
    await carryOn(decided.conversationId);
    expect(paid()).toEqual(['Bergen', 'Turin']);
    expect(new Set(await statuses(decided.conversationId))).toEqual(new Set(['done']));
  });
});

describe('when the model does not say it', () => {
  beforeEach(() => setWorkspace('operator'));

  test.each([
    ['fails', { status: 400 }],
    ['is silent', { reply: '' }],
  ] as const)('and %s, the service does, and the calls wait', async (_how, step) => {
    here.server.script({ reply: '', toolCalls: [payCall('Oslo')] }, step);
    const { body } = await send(here.app, agentId, { content: 'Pay.' }).expect(200);
    expect(body.message.content).toBe(
      'Before I go on, a person of the team has to decide about this. I will write here again then.',
    );
    expect(body.pendingApprovals).toHaveLength(1);
  });
});

test('the words are streamed like the rest of the reply', async () => {
  await setWorkspace('operator');
  here.server.script({ reply: 'Gladly.', toolCalls: [payCall('Oslo')] }, { reply: ['A person ', 'decides.'] });
  const { text } = await streamed(here.app, agentId, { content: 'Pay.' });
  expect(text).toBe('Gladly.\n\nA person decides.');
});

describe('words', () => {
  test.each(['Ja!', ' sí ', 'OK.', 'Yes please', 'oui', 'はい', '👍🏽', 'да', 'Approve'])(
    '%j approves where the user decides, and is an ordinary message when no call waits',
    async (word) => {
      const { conversationId } = await waits('', 'Oslo');
      here.server.reset();
      await say(word, conversationId);
      expect(paid()).toEqual(['Oslo']);
      await say(word, conversationId);
      expect(said(here.server.requests.at(-1)).at(-1)).toBe(`user: ${word}`);
      expect(paid()).toEqual(['Oslo']);
    },
  );

  test.each(['Nein.', 'não', 'no thanks', '❌', 'いいえ', 'reject'])('%j rejects', async (word) => {
    const { conversationId } = await waits('', 'Oslo');
    here.server.reset();
    expect((await say(word, conversationId)).pendingApprovals).toEqual([]);
    expect(JSON.stringify(here.server.requests[0]?.body)).toContain('A person rejected this call.');
    expect(paid()).toEqual([]);
  });

  test.each(['ok?', 'Ja, aber nach Bergen', 'tak', 'ok 👎'])('%j decides nothing', async (words) => {
    const { conversationId } = await waits('', 'Oslo');
    here.server.reset();
    await say(words, conversationId);
    expect(JSON.stringify(here.server.requests[0]?.body)).toContain('This call was not approved');
    expect(paid()).toEqual([]);
  });
});

test.each([
  [['workspace', 'update', 'ID', '--approvals-by', 'nobody'], '--approvals-by must be user, operator or default'],
  [['agent', 'set', 'ID', '--workspace', 'ID'], 'Give --approvals-by'],
])('%j is a usage error', async ([noun = '', ...args], reason) => {
  const id = here.app.workspace.workspaceId;
  const { code, stderr } = await run(here.app.database, noun, ...args.map((arg) => (arg === 'ID' ? id : arg)));
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
});
