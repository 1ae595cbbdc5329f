import type { components } from '../../../generated/api.ts';
import { addModel, makeReadyAgent, publish, readAgent } from '../../support/agents/agents.ts';
import {
  deleteTarget,
  LINK_APIS,
  type LinkApi,
  link,
  linkApi,
  linkedIds,
  makeTarget,
  unlink,
} from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

/** All six kinds of link belong to the draft, are frozen by a publication and return with a restoration. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const restore = (agentId: string, version: number) =>
  app.api('post', `/agents/${agentId}/versions/${version}/restore`).send({});

async function changed(agentId: string): Promise<boolean> {
  return (await readAgent(app, agentId)).hasUnpublishedChanges;
}

/** The ids that a version shows. */
async function versionIds(agentId: string, version: number, api: LinkApi): Promise<string[]> {
  const { body } = await app.api('get', `/agents/${agentId}/versions/${version}`);
  const links = body[api.versionField ?? ''] as Record<string, string>[];
  return links.map((each) => String(each[api.idField]));
}

describe.each(LINK_APIS)('$kind', (api) => {
  test('linking and unlinking change the draft, and restoring the same set is no change', async () => {
    const [one, two] = [await makeTarget(app, api.kind), await makeTarget(app, api.kind)];
    const agent = (await makeReadyAgent(app)).publicId;
    await link(app, agent, api, one);
    await link(app, agent, api, two);
    await publish(app, agent);
    expect(await changed(agent)).toBe(false);
    await unlink(app, agent, api, one);
    expect(await changed(agent)).toBe(true);
    if (api.kind === 'sub_agent') return; // their place in the list is part of the state
    await link(app, agent, api, one);
    expect(await changed(agent)).toBe(false);
  });

  test('a publication freezes the links, and later changes leave the version as it is', async () => {
    const target = await makeTarget(app, api.kind);
    const agent = (await makeReadyAgent(app)).publicId;
    await link(app, agent, api, target);
    await publish(app, agent);
    await unlink(app, agent, api, target);
    await publish(app, agent);
    if (api.versionField) {
      expect(await versionIds(agent, 1, api)).toEqual([target]);
      expect(await versionIds(agent, 2, api)).toEqual([]);
    }
    const { body } = await app.api('get', `/agents/${agent}/versions/1`);
    for (const hidden of ['externalMcps', 'nativeMcps']) expect(body).not.toHaveProperty(hidden);
    await restore(agent, 1);
    expect(await linkedIds(app, agent, api)).toEqual([target]);
  });

  test('a restoration restores the links of the version and removes later ones', async () => {
    const [one, two, later] = [
      await makeTarget(app, api.kind),
      await makeTarget(app, api.kind),
      await makeTarget(app, api.kind),
    ];
    const agent = (await makeReadyAgent(app)).publicId;
    await link(app, agent, api, one);
    await link(app, agent, api, two);
    await publish(app, agent);
    const before = await linkedIds(app, agent, api);
    await unlink(app, agent, api, one);
    await link(app, agent, api, later);
    await publish(app, agent);
    const { status, body } = await restore(agent, 1);
    expect([status, body.hasUnpublishedChanges]).toEqual([200, false]);
    expect(await linkedIds(app, agent, api)).toEqual(before);
  });

  test('a restoration leaves out a target that was deleted since', async () => {
    const [gone, kept] = [await makeTarget(app, api.kind), await makeTarget(app, api.kind)];
    const agent = (await makeReadyAgent(app)).publicId;
    await link(app, agent, api, gone);
    await link(app, agent, api, kept);
    await publish(app, agent);
    await deleteTarget(app, api, gone);
    expect(await linkedIds(app, agent, api)).toEqual([kept]);
    const { status, body } = await restore(agent, 1);
    expect([status, body.hasUnpublishedChanges]).toEqual([200, false]);
    expect(await linkedIds(app, agent, api)).toEqual([kept]);
  });
});

describe.each(LINK_APIS.filter(({ collection }) => collection !== null))('deleting a linked $kind', (api) => {
  test('removes it from every draft, which then have unpublished changes', async () => {
    const target = await makeTarget(app, api.kind);
    const agents = [(await makeReadyAgent(app)).publicId, (await makeReadyAgent(app)).publicId];
    for (const agent of agents) {
      await link(app, agent, api, target);
      await publish(app, agent);
    }
    const bystander = (await makeReadyAgent(app)).publicId;
    await publish(app, bystander);
    await deleteTarget(app, api, target);
    for (const agent of agents) expect([await changed(agent), await linkedIds(app, agent, api)]).toEqual([true, []]);
    expect(await changed(bystander)).toBe(false);
    if (api.versionField) expect(await versionIds(agents[0] ?? '', 1, api)).toEqual([target]);
  });

  test('leaves no link to it when other requests link it at the same time', async () => {
    const target = await makeTarget(app, api.kind);
    const agents = await Promise.all([1, 2, 3, 4, 5, 6].map(async () => (await makeReadyAgent(app)).publicId));
    const linking = agents.map((agent) => app.api('post', `/agents/${agent}/${api.path}`).send(api.body(target)));
    const [deleted, ...answers] = await Promise.all([app.api('delete', `/${api.collection}/${target}`), ...linking]);
    expect(deleted.status).toBe(204);
    expect(answers.every(({ status }) => status === 201 || status === 404)).toBe(true);
    const left = await app.workspace.db
      .selectFrom('agent_links')
      .select('agent_id')
      .where('target_id', '=', target)
      .execute();
    expect(left).toEqual([]);
    for (const agent of agents) expect(await linkedIds(app, agent, api)).toEqual([]);
  });

  test('a new name is no unpublished change of the agents that are linked to it', async () => {
    const target = await makeTarget(app, api.kind);
    const agent = (await makeReadyAgent(app)).publicId;
    await link(app, agent, api, target);
    await publish(app, agent);
    const renamed = await app.api('patch', `/${api.collection}/${target}`).send({ name: `renamed-${api.kind}` });
    expect(renamed.status).toBe(200);
    // A change that is reverted, so that the service compares the state again.
    for (const systemPrompt of ['x', null]) await app.api('patch', `/agents/${agent}`).send({ systemPrompt });
    expect(await changed(agent)).toBe(false);
  });
});

test('a restoration leaves out a sub-agent that would now close a cycle', async () => {
  const api = linkApi('sub_agent');
  const [parent, child, other] = [
    (await makeReadyAgent(app)).publicId,
    (await makeReadyAgent(app)).publicId,
    (await makeReadyAgent(app)).publicId,
  ];
  await link(app, parent, api, child);
  await link(app, parent, api, other);
  await publish(app, parent);
  await unlink(app, parent, api, child);
  await link(app, child, api, parent);
  const { status } = await restore(parent, 1);
  expect([status, await linkedIds(app, parent, api)]).toEqual([200, [other]]);
});

test('a restoration clears a removed model of a sub-agent link', async () => {
  const model = await addModel(app.workspace);
  const [parent, child] = [(await makeReadyAgent(app)).publicId, (await makeReadyAgent(app)).publicId];
  const linked = await app
    .api('post', `/agents/${parent}/sub-agents`)
    .send({ subAgentPublicId: child, aiModelPublicId: model });
  expect(linked.status).toBe(201);
  await publish(app, parent);
  await app.workspace.db
    .updateTable('ai_models')
    .set({ deleted_at: app.clock.now() })
    .where('id', '=', model)
    .execute();
  expect((await restore(parent, 1)).status).toBe(200);
  const { body } = await app.api('get', `/agents/${parent}/sub-agents`);
  expect(body).toMatchObject([{ subAgentPublicId: child, aiModelPublicId: null, aiModelName: null }]);
});

test('a version shows the links for which it has fields, each as its list shows it', async () => {
  const agent = (await makeReadyAgent(app)).publicId;
  const apis = LINK_APIS.filter(({ versionField }) => versionField !== null);
  for (const api of apis) await link(app, agent, api, await makeTarget(app, api.kind));
  await publish(app, agent);
  const { body } = await app.api('get', `/agents/${agent}/versions/1`);
  const version: components['schemas']['AgentVersion'] = body;
  for (const api of apis) {
    const list = (await app.api('get', `/agents/${agent}/${api.path}`)).body;
    expect(version[api.versionField ?? 'skills']).toEqual(list);
  }
});
