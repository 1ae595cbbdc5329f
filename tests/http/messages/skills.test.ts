import { publish } from '../../support/agents/agents.ts';
import { agentWith, stepsOf } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { makeSkill, skillMd, uploadSkill, zipOf } from '../../support/tools/skills.ts';
import {
  lastResult,
  resultsOf,
  switchOff,
  systemOf,
  toolCall,
  toolNames,
  WIRES,
} from '../../support/turns/exchanges.ts';
import { GPT, publishedAgent, send } from './turns.ts';

const here = useModelApp();
let refunds: string;

beforeAll(async () => {
  const { status, body } = await uploadSkill(
    here.app,
    await zipOf({
      'SKILL.md':
        '---\nname: refunds\ndescription: How refunds are made.\n---\n\nAsk for the receipt. See forms/claim.md.\n',
      'forms/claim.md': 'Name, order, reason.\n',
      'logo.png': Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
    }),
  );
  expect(status).toBe(201);
  refunds = body.publicId;
});

const skilled = (ids: readonly { id: string }[], aiModelPublicId = GPT) =>
  agentWith(
    here.app,
    ids.map((each) => ({ kind: 'skill' as const, ...each })),
    { aiModelPublicId, systemPrompt: 'You help.' },
  );
const read = (skill: string, more: object = {}, id?: string) => toolCall('read_skill', { skill, ...more }, id);

describe.each(WIRES)('%s', (_wire, model) => {
  test('the prompt has the names and descriptions of skills, and the model can read their text and files', async () => {
    const agentId = await skilled([{ id: refunds }], model);
    here.server.script(
      { reply: '', toolCalls: [read('refunds')] },
      {
        reply: '',
        toolCalls: [read('refunds', { path: 'forms/claim.md' }, 'c1'), read('refunds', { path: 'logo.png' }, 'c2')],
      },
      { reply: 'Your name?' },
    );
    const { body } = await send(here.app, agentId, { content: 'I want my money back.' }).expect(200);
    const [first, second, third] = here.server.requests;
    expect(systemOf(first)).toMatch(/^You help\.\n\n# Skills\n\n[^\n]*\n\n- refunds: How refunds are made\.$/);
    expect(toolNames(first)).toEqual(['read_skill']);
    expect(JSON.stringify(first?.body)).not.toContain('receipt');
    expect(lastResult(second)).toEqual({
      text: 'SKILL.md of the skill "refunds":\n\nAsk for the receipt. See forms/claim.md.\n\nIts files:\n- forms/claim.md (21 bytes)\n- logo.png (binary, 12 bytes)',
      isError: false,
    });
    expect(resultsOf(third).slice(1)).toEqual([
      { id: 'c1', text: 'forms/claim.md of the skill "refunds":\n\nName, order, reason.', isError: false },
      { id: 'c2', text: expect.stringContaining('is a binary file (PNG) of 12 bytes'), isError: false },
    ]);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Your name?' }]);
    expect((await stepsOf(here.app, body.conversationId)).map(({ kind }) => kind)).toEqual([
      'model',
      'tool',
      'model',
      'tool',
      'tool',
      'model',
    ]);
  });
});

test('for an unknown skill or file the model gets an error that lists the existing ones', async () => {
  const agentId = await skilled([{ id: refunds }]);
  here.server.script({
    reply: '',
    toolCalls: [read('returns', {}, 'c1'), read('refunds', { path: 'claim.md' }, 'c2')],
  });
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(resultsOf(here.server.requests[1])).toEqual([
    { id: 'c1', text: 'There is no skill "returns". These are there:\n- refunds', isError: true },
    {
      id: 'c2',
      text: expect.stringMatching(/^The skill "refunds" has no file "claim\.md"\..*\n.*forms\/claim\.md/s),
      isError: true,
    },
  ]);
});

test('without skills there is neither a section in the prompt nor a tool', async () => {
  const agentId = await publishedAgent(here.app, { aiModelPublicId: GPT });
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(systemOf(here.server.requests[0])).toBe('');
  expect(toolNames(here.server.requests[0])).toEqual([]);
});

test('a skill that is inactive on its link, deleted or another workspace’s can be neither seen nor read', async () => {
  const off = await makeSkill(here.app, { fields: 'name: off\ndescription: Is off.' });
  const gone = await makeSkill(here.app, { fields: 'name: gone\ndescription: Is gone.' });
  await makeSkill(here.app, { fields: 'name: theirs\ndescription: Is theirs.', key: here.app.stranger.apiKey });
  const agentId = await skilled([{ id: refunds }, { id: off.publicId }, { id: gone.publicId }]);
  await switchOff(here.app, agentId, off.publicId);
  await publish(here.app, agentId);
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(systemOf(here.server.requests[0])).toMatch(/- refunds: .*\n- gone: Is gone\.$/);
  await here.app.api('delete', `/skills/${gone.publicId}`).expect(204);
  here.server.script({
    reply: '',
    toolCalls: ['off', 'gone', 'theirs', off.publicId].map((name, place) => read(name, {}, `c${place}`)),
  });
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(systemOf(here.server.requests[1])).toMatch(/\n\n- refunds: [^\n]*$/);
  const results = resultsOf(here.server.requests[2]);
  expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true]);
  for (const { text } of results) expect(text).toMatch(/^There is no skill .*These are there:\n- refunds$/);
});

test('a renamed skill has its new name from the next message on', async () => {
  const skill = await makeSkill(here.app, { fields: 'name: before\ndescription: Does it.' });
  const agentId = await skilled([{ id: skill.publicId }]);
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(systemOf(here.server.requests[0])).toContain('- before: Does it.');
  await here.app.api('patch', `/skills/${skill.publicId}`).send({ name: 'after' }).expect(200);
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(systemOf(here.server.requests[1])).toContain('- after: Does it.');
});

test('a skill of one file is read like any other', async () => {
  const { body: skill } = await uploadSkill(
    here.app,
    skillMd('name: alone\ndescription: Stands alone.'),
    'SKILL.md',
  ).expect(201);
  const agentId = await skilled([{ id: skill.publicId }]);
  here.server.script({ reply: '', toolCalls: [read('alone')] });
  await send(here.app, agentId, { content: 'Hello?' }).expect(200);
  expect(lastResult(here.server.requests[1]).text).toBe('SKILL.md of the skill "alone":\n\n# What to do\n\nOne thing.');
});
