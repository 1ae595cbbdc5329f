import type { AgentSnapshot, AgentSnapshotFormat1, StoredVariable } from '../../../db/stored/agentSnapshot.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { snapshotOfVersion } from '../../../runtime/resources/snapshot.ts';
import { makeReadyAgent, makeVariable, publish, readAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { linkSkill, makeSkill } from '../../support/tools/skills.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const stored = (agentId: string, versionNumber: number) =>
  app.database.database.system
    .selectFrom('agent_versions')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('version_number', '=', versionNumber)
    .executeTakeFirstOrThrow();

const show = (agentId: string, versionNumber: number) =>
  app.api('get', `/agents/${agentId}/versions/${versionNumber}`).expect(200);

/**
 * An agent with two equal versions: 1 in the current format, and 2 as a release before the format number stored it, without the lists
 * of MCP links. Version 2 is published.
 */
async function makeOldVersion(): Promise<{ agentId: string; variables: StoredVariable[]; skillId: string }> {
  const { publicId: agentId } = await makeReadyAgent(app, {
    systemPrompt: 'You sell {{article}} in {{city}}.',
    dynamicPromptEnabled: true,
  });
  await makeVariable(app, agentId, { name: 'city', defaultValue: 'Lyon', sortOrder: 2 });
  await makeVariable(app, agentId, { name: 'article', defaultValue: 'tea', sortOrder: 1 });
  const { publicId: skillId } = await makeSkill(app);
  await linkSkill(app, agentId, skillId);
  await publish(app, agentId);
  const { snapshot } = await stored(agentId, 1);
  const {
    format: _format,
    variables,
    externalMcps: _external,
    nativeMcps: _native,
    ...rest
  } = snapshot as AgentSnapshot;
  const old: AgentSnapshotFormat1 = {
    ...rest,
    variablesSnapshot: Object.fromEntries(variables.map((variable) => [variable.name, variable])),
  };
  // Neither database role may change a version, so the old format is stored as the next version.
  await app.database.database.system
    .insertInto('agent_versions')
    .values({
      workspace_id: app.workspace.workspaceId,
      agent_id: agentId,
      version_number: 2,
      snapshot: JSON.stringify(old),
    })
    .execute();
  await app.database.database.system
    .updateTable('agents')
    .set({ published_version_number: 2, draft_version_number: 3 })
    .where('id', '=', agentId)
    .execute();
  return { agentId, variables, skillId };
}

describe('a version that was stored before the format number', () => {
  test('is upgraded: it has no links of the kinds that it lacks, and its variables in order', async () => {
    const { agentId, variables } = await makeOldVersion();
    const [old, now] = [await stored(agentId, 2), await stored(agentId, 1)];
    expect(old.snapshot).not.toHaveProperty('format');
    expect(snapshotOfVersion(old)).toEqual(now.snapshot);
    expect(snapshotOfVersion(old).variables).toEqual(variables);
    expect(variables.map(({ name }) => name)).toEqual(['article', 'city']);
  });

  test('is shown as one in the current format', async () => {
    const { agentId } = await makeOldVersion();
    const [{ body: now }, { body: old }] = [await show(agentId, 1), await show(agentId, 2)];
    expect(old).toEqual({ ...now, versionNumber: 2, createdAt: old.createdAt, notes: null });
  });

  test('can answer messages', async () => {
    const { agentId } = await makeOldVersion();
    const { body } = await app.api('post', `/agents/${agentId}/messages`).send({ content: 'Hello.' }).expect(200);
    expect(body.conversationId).toEqual(expect.any(String));
  });

  test('is restored with its variables and links', async () => {
    const { agentId, skillId } = await makeOldVersion();
    await app.api('patch', `/agents/${agentId}`).send({ systemPrompt: 'Other.' }).expect(200);
    await app.api('delete', `/agents/${agentId}/skills/${skillId}`).expect(204);
    await app.api('post', `/agents/${agentId}/versions/2/restore`).send().expect(200);
    const agent = await readAgent(app, agentId);
    expect(agent).toMatchObject({
      systemPrompt: 'You sell {{article}} in {{city}}.',
      aiModelPublicId: BUILTIN_MODEL.publicId,
      hasUnpublishedChanges: false,
    });
    const links = await app.api('get', `/agents/${agentId}/skills`).expect(200);
    expect(links.body).toMatchObject([{ skillPublicId: skillId }]);
    const prompt = await app.api('get', `/agents/${agentId}/prompt`).expect(200);
    expect(prompt.body.variables.map(({ name }: { name: string }) => name)).toEqual(['article', 'city']);
  });
});

test('a version of an unknown format is refused, and not read as a known one', () => {
  const snapshot = { format: 3 } as unknown as AgentSnapshot;
  expect(() => snapshotOfVersion({ snapshot })).toThrow(
    'A version is stored in format 3, which this release cannot read',
  );
});
