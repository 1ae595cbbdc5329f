import { newId } from '../../../core/ids.ts';
import { linkSubAgent, subAgentIds, subAgents } from '../../support/agent-sub-agents.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus, withoutRequestId } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const make = async () => (await makeAgent(app)).publicId;
const unlink = (agentId: string, subAgentId: string) =>
  app.api('delete', `/agents/${agentId}/sub-agents/${subAgentId}`);

describe('204', () => {
  test('the one is out, the others stay, and the agents themselves are not touched', async () => {
    const [agent, a, b] = [await make(), await make(), await make()];
    await linkSubAgent(app, agent, a);
    await linkSubAgent(app, agent, b);
    const before = await readAgent(app, a);
    const { status, text } = await unlink(agent, a);
    expect([status, text]).toEqual([204, '']);
    expect(await subAgentIds(app, agent)).toEqual([b]);
    expect(await readAgent(app, a)).toEqual(before);
  });

  test('another parent keeps it', async () => {
    const [agent, other, a] = [await make(), await make(), await make()];
    await linkSubAgent(app, agent, a);
    await linkSubAgent(app, other, a);
    await unlink(agent, a);
    expect(await subAgentIds(app, other)).toEqual([a]);
  });

  test('the published version keeps it', async () => {
    const agent = (await makeReadyAgent(app)).publicId;
    await linkSubAgent(app, agent, await make());
    const linked = await subAgents(app, agent);
    await publish(app, agent);
    await unlink(agent, linked[0]?.subAgentPublicId as string);
    expect((await readAgent(app, agent)).hasUnpublishedChanges).toBe(true);
    expect((await app.api('get', `/agents/${agent}/versions/1`)).body.subAgents).toEqual(linked);
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an agent of another workspace is as one that is not there', async () => {
    const a = await make();
    const foreign = (await makeAgent(app, {}, app.stranger.apiKey)).publicId;
    const [missing, strange] = [await unlink(newId(), a), await unlink(foreign, a)];
    expect([missing.status, missing.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(strange.body)).toEqual(withoutRequestId(missing.body));
  });

  test('SUB_AGENT_NOT_FOUND: a sub-agent of another workspace, or deleted, is as one that is not there', async () => {
    const [agent, deleted] = [await make(), await make()];
    await linkSubAgent(app, agent, deleted);
    await app.api('delete', `/agents/${deleted}`);
    const foreign = (await makeAgent(app, {}, app.stranger.apiKey)).publicId;
    const missing = await unlink(agent, newId());
    expect([missing.status, missing.body.code]).toEqual([404, 'SUB_AGENT_NOT_FOUND']);
    for (const id of [foreign, deleted]) {
      expect(withoutRequestId((await unlink(agent, id)).body)).toEqual(withoutRequestId(missing.body));
    }
  });

  test('NOT_LINKED: an agent that is not a sub-agent of this one, or not any more', async () => {
    const [agent, a] = [await make(), await make()];
    await linkSubAgent(app, a, agent);
    for (const id of [a, a.toUpperCase()]) expect((await unlink(agent, id)).body.code).toBe('NOT_LINKED');
    expect(await subAgentIds(app, a)).toEqual([agent]);
    expect((await unlink(a, agent)).status).toBe(204);
    const again = await unlink(a, agent);
    expect([again.status, again.body.code]).toEqual([404, 'NOT_LINKED']);
  });

  test('NOT_LINKED: of two at the same time one takes it out', async () => {
    const [agent, a] = [await make(), await make()];
    await linkSubAgent(app, agent, a);
    const answers = await Promise.all([unlink(agent, a), unlink(agent, a)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('409', () => {
  test('NO_DRAFT_VERSION: an archived agent keeps its links', async () => {
    const [agent, a] = [await make(), await make()];
    await linkSubAgent(app, agent, a);
    await setStatus(app.workspace, agent, 'archived');
    const { status, body } = await unlink(agent, a);
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
