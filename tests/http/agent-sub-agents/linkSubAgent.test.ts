import { newId } from '../../../core/ids.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { askForSubAgent, chain, linkSubAgent, subAgentIds, subAgents } from '../../support/agents/agentSubAgents.ts';
import { addModel, makeAgent, readAgent, setStatus } from '../../support/agents/agents.ts';
import { describeLinking } from '../../support/agents/linkSuites.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const make = async () => (await makeAgent(app)).publicId;
const makeMany = (count: number) => Promise.all(Array.from({ length: count }, make));

/** Asserts that the request is refused with this status and code, and that the agent is unchanged. */
async function expectRefused(
  agentId: string,
  body: { subAgentPublicId: string; aiModelPublicId?: string },
  status: number,
  code: string,
) {
  const [before, linked] = [await readAgent(app, agentId), await subAgents(app, agentId)];
  const answer = await askForSubAgent(app, agentId, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await readAgent(app, agentId)).toEqual(before);
  expect(await subAgents(app, agentId)).toEqual(linked);
}

describeLinking(() => app, 'sub_agent');

describe('201', () => {
  test('the id of the agent is the only required field', async () => {
    const [agent, other] = [await make(), await makeAgent(app)];
    const { status, body } = await askForSubAgent(app, agent, { subAgentPublicId: other.publicId });
    expect(status).toBe(201);
    expect(body).toEqual({
      subAgentPublicId: other.publicId,
      subAgentName: other.name,
      description: null,
      aiModelPublicId: null,
      aiModelName: null,
      sortOrder: 0,
    });
    expect(await subAgents(app, agent)).toEqual([body]);
  });

  test('every field is stored', async () => {
    const [agent, other] = await makeMany(2);
    const fields = { description: 'd'.repeat(500), aiModelPublicId: BUILTIN_MODEL.publicId, sortOrder: 2_147_483_647 };
    const link = await linkSubAgent(app, agent as string, other as string, fields);
    expect(link).toMatchObject({ ...fields, aiModelName: BUILTIN_MODEL.name });
  });

  test('null is the same as an absent field', async () => {
    const [agent, other] = await makeMany(2);
    const nothing = { description: null, aiModelPublicId: null };
    expect(await linkSubAgent(app, agent as string, other as string, nothing)).toMatchObject({
      ...nothing,
      aiModelName: null,
    });
  });

  test('a custom model of the workspace is shown with its name', async () => {
    const [agent, other] = await makeMany(2);
    const aiModelPublicId = await addModel(app.workspace, { name: 'House model' });
    const link = await linkSubAgent(app, agent as string, other as string, { aiModelPublicId });
    expect(link).toMatchObject({ aiModelPublicId, aiModelName: 'House model' });
  });

  test('without sortOrder the link goes to the end of the list, also after gaps', async () => {
    const [agent = '', a = '', b = '', c = '', d = ''] = await makeMany(5);
    expect((await linkSubAgent(app, agent, a)).sortOrder).toBe(0);
    expect((await linkSubAgent(app, agent, b)).sortOrder).toBe(1);
    await linkSubAgent(app, agent, c, { sortOrder: 40 });
    expect((await linkSubAgent(app, agent, d)).sortOrder).toBe(41);
    expect(await subAgentIds(app, agent)).toEqual([a, b, c, d]);
  });

  test('a link can follow one with the largest sortOrder', async () => {
    const [agent = '', a = '', b = ''] = await makeMany(3);
    await linkSubAgent(app, agent, a, { sortOrder: 2_147_483_647 });
    expect((await linkSubAgent(app, agent, b)).sortOrder).toBe(2_147_483_647);
    expect(await subAgentIds(app, agent)).toEqual([a, b]);
  });

  test('an agent may have several parents, and a parent may reach an agent by several paths', async () => {
    const [top = '', left = '', right = '', bottom = ''] = await makeMany(4);
    await chain(app, top, left, bottom);
    await chain(app, top, right, bottom);
    await linkSubAgent(app, top, bottom);
    expect(await subAgentIds(app, top)).toEqual([left, right, bottom]);
  });

  test('after unlinking, the opposite link can be made', async () => {
    const [a = '', b = ''] = await makeMany(2);
    await linkSubAgent(app, a, b);
    await app.api('delete', `/agents/${a}/sub-agents/${b}`);
    expect((await askForSubAgent(app, b, { subAgentPublicId: a })).status).toBe(201);
  });

  test('a path over a deleted agent closes no cycle', async () => {
    const [a = '', b = '', c = ''] = await makeMany(3);
    await chain(app, a, b, c);
    await app.api('delete', `/agents/${b}`);
    expect((await askForSubAgent(app, c, { subAgentPublicId: a })).status).toBe(201);
  });
});

describe('400', () => {
  test.each([
    ['subAgentPublicId', {}],
    ['description', { description: '' }],
    ['description', { description: 'd'.repeat(501) }],
    ['sortOrder', { sortOrder: -1 }],
    ['sortOrder', { sortOrder: 2_147_483_648 }],
    ['sortOrder', { sortOrder: 1.5 }],
    ['aiModelPublicId', { aiModelPublicId: 'gpt' }],
  ])('%s of %j', async (field, fields) => {
    const [agent = '', other = ''] = await makeMany(2);
    const body = field === 'subAgentPublicId' ? fields : { subAgentPublicId: other, ...fields };
    const answer = await app.api('post', `/agents/${agent}/sub-agents`).send(body);
    expect([answer.status, answer.body.details[0]?.path]).toEqual([400, `/body/${field}`]);
    expect(await subAgents(app, agent)).toEqual([]);
  });
});

describe('404', () => {
  test('AI_MODEL_NOT_FOUND: a model that is unknown, deleted, or another workspace’s', async () => {
    const [agent = '', other = ''] = await makeMany(2);
    const foreign = await addModel(app.stranger);
    const deleted = await addModel(app.workspace, { deleted_at: app.clock.now() });
    for (const aiModelPublicId of [newId(), deleted, foreign]) {
      await expectRefused(agent, { subAgentPublicId: other, aiModelPublicId }, 404, 'AI_MODEL_NOT_FOUND');
    }
  });
});

describe('409', () => {
  test('ALREADY_LINKED: the agent is linked, whatever other fields the request has', async () => {
    const [agent = '', other = ''] = await makeMany(2);
    await linkSubAgent(app, agent, other);
    await expectRefused(agent, { subAgentPublicId: other }, 409, 'ALREADY_LINKED');
    await expectRefused(
      agent,
      { subAgentPublicId: other, aiModelPublicId: BUILTIN_MODEL.publicId },
      409,
      'ALREADY_LINKED',
    );
  });

  test('NO_DRAFT_VERSION: an archived agent has none, whether or not the sub-agent exists', async () => {
    const [agent = '', other = ''] = await makeMany(2);
    await setStatus(app.workspace, agent, 'archived');
    for (const subAgentPublicId of [other, newId(), agent]) {
      const { status, body } = await askForSubAgent(app, agent, { subAgentPublicId });
      expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
    }
  });
});

describe('422', () => {
  test('SUB_AGENT_CYCLE: the agent itself', async () => {
    const agent = await make();
    await expectRefused(agent, { subAgentPublicId: agent }, 422, 'SUB_AGENT_CYCLE');
    await expectRefused(agent, { subAgentPublicId: agent.toUpperCase() }, 422, 'SUB_AGENT_CYCLE');
  });

  test.each([2, 3, 4, 12])('SUB_AGENT_CYCLE: a cycle of %i agents', async (length) => {
    const ids = await makeMany(length);
    await chain(app, ...ids);
    await expectRefused(ids.at(-1) as string, { subAgentPublicId: ids[0] as string }, 422, 'SUB_AGENT_CYCLE');
  });

  test('SUB_AGENT_CYCLE: a cycle over the last of several sub-agents', async () => {
    const [a = '', b = '', c = '', d = ''] = await makeMany(4);
    await chain(app, a, b);
    await chain(app, a, c, d);
    await expectRefused(d, { subAgentPublicId: a }, 422, 'SUB_AGENT_CYCLE');
    await expectRefused(d, { subAgentPublicId: c }, 422, 'SUB_AGENT_CYCLE');
    expect((await askForSubAgent(app, d, { subAgentPublicId: b })).status).toBe(201);
  });

  test('SUB_AGENT_CYCLE: a cycle over an archived agent, which may be unarchived', async () => {
    const [a = '', b = '', c = ''] = await makeMany(3);
    await chain(app, a, b, c);
    await setStatus(app.workspace, b, 'archived');
    await expectRefused(c, { subAgentPublicId: a }, 422, 'SUB_AGENT_CYCLE');
  });

  test('SUB_AGENT_CYCLE: comes before AI_MODEL_NOT_FOUND', async () => {
    const agent = await make();
    await expectRefused(agent, { subAgentPublicId: agent, aiModelPublicId: newId() }, 422, 'SUB_AGENT_CYCLE');
  });

  test('SUB_AGENT_CYCLE: of two concurrent opposite links one is accepted', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a = '', b = ''] = await makeMany(2);
      const answers = await Promise.all([
        askForSubAgent(app, a, { subAgentPublicId: b }),
        askForSubAgent(app, b, { subAgentPublicId: a }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    }
  });

  test('SUB_AGENT_CYCLE: of two concurrent links that share no agent and would close a cycle over others, one is accepted', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [a = '', b = '', c = '', d = ''] = await makeMany(4);
      await Promise.all([chain(app, b, c), chain(app, d, a)]);
      const answers = await Promise.all([
        askForSubAgent(app, a, { subAgentPublicId: b }),
        askForSubAgent(app, c, { subAgentPublicId: d }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    }
  });

  test('SUB_AGENT_CYCLE: of concurrent links that would close a cycle together, one is refused', async () => {
    for (const length of [3, 6]) {
      const ids = await makeMany(length);
      const answers = await Promise.all(
        ids.map((id, i) => askForSubAgent(app, id, { subAgentPublicId: ids[(i + 1) % length] as string })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(length - 1).fill(201), 422]);
    }
  });
});
