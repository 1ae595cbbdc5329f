import { newId } from '../../../core/ids.ts';
import {
  makeAgent,
  makeReadyAgent,
  publish,
  readAgent,
  setStatus,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { storeMcp } from '../../support/tools/mcpApi.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const change = (agentId: string, serverId: string, body: object) =>
  app.api('patch', `/agents/${agentId}/external-mcps/${serverId}`).send(body);

async function linked(instanceMode = 'STATIC') {
  const { publicId } = await makeReadyAgent(app);
  const server = await storeMcp(app.workspace);
  const { body } = await app
    .api('post', `/agents/${publicId}/external-mcps`)
    .send({ externalMcpPublicId: server, instanceMode });
  return { agentId: publicId, server, link: body };
}

describe('200', () => {
  test.each([
    { active: false },
    { requiresApproval: true },
    { instanceMode: 'DYNAMIC' },
    { active: false, requiresApproval: true, instanceMode: 'DYNAMIC' },
    {},
  ])('%j changes that and nothing else', async (fields) => {
    const { agentId, server, link } = await linked();
    const { status, body } = await change(agentId, server, fields);
    expect(status).toBe(200);
    expect(body).toEqual({ ...link, ...fields });
    expect((await app.api('get', `/agents/${agentId}/external-mcps`)).body).toEqual([body]);
  });

  test('null resets a field to the value of a new link', async () => {
    const { agentId, server, link } = await linked('DYNAMIC');
    await change(agentId, server, { active: false, requiresApproval: true }).expect(200);
    const { body } = await change(agentId, server, { active: null, requiresApproval: null, instanceMode: null });
    expect(body).toEqual({ ...link, instanceMode: 'STATIC' });
  });

  test('a change is unpublished until the agent is published or the change is reverted', async () => {
    const { agentId, server } = await linked();
    await publish(app, agentId);
    await change(agentId, server, { requiresApproval: true }).expect(200);
    expect((await readAgent(app, agentId)).hasUnpublishedChanges).toBe(true);
    await change(agentId, server, { requiresApproval: false }).expect(200);
    expect((await readAgent(app, agentId)).hasUnpublishedChanges).toBe(false);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{ active: 'yes' }, { instanceMode: 'SHARED' }, { requiresApproval: 1 }, { serverName: 'x' }])(
    '%j',
    async (fields) => {
      const { agentId, server, link } = await linked();
      const { status, body } = await change(agentId, server, fields);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect((await app.api('get', `/agents/${agentId}/external-mcps`)).body).toEqual([link]);
    },
  );
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const server = await storeMcp(app.workspace);
    const missing = await change(newId(), server, { active: false });
    const { status, body } = await change(foreign.publicId, server, { active: false });
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("a deleted server and another workspace's are treated as one that does not exist", async () => {
    const { agentId, server } = await linked();
    await app.api('delete', `/external-mcps/${server}`).expect(204);
    const missing = await change(agentId, newId(), { active: false });
    for (const id of [server, await storeMcp(app.stranger)]) {
      const { status, body } = await change(agentId, id, { active: false });
      expect([status, body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
      expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    }
  });
});

describe('404 NOT_LINKED', () => {
  test('a server that exists and is not linked to this agent', async () => {
    const { agentId } = await linked();
    const elsewhere = await linked();
    for (const id of [await storeMcp(app.workspace), elsewhere.server]) {
      const { status, body } = await change(agentId, id, { active: false });
      expect([status, body.code]).toEqual([404, 'NOT_LINKED']);
    }
  });
});

describe('409 NO_DRAFT_VERSION', () => {
  test('the link of an archived agent stays as it is', async () => {
    const { agentId, server } = await linked();
    await setStatus(app.workspace, agentId, 'archived');
    const { status, body } = await change(agentId, server, { active: false });
    expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
  });
});
