import type { LinkKind } from '../../../db/queries/agents/agentLinks.ts';
import { softDeleteCustomModel } from '../../../db/queries/agents/aiModels.ts';
import { softDeleteConnection } from '../../../db/queries/tools/nativeConnections.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { ResourceCache } from '../../../runtime/resources/resourceCache.ts';
import type { Resources } from '../../../runtime/resources/resources.ts';
import { openSecrets } from '../../../runtime/tools/secrets/secrets.ts';
import { addModel, makeReadyAgent, publish, setStatus } from '../../support/agents/agents.ts';
import { LINK_APIS, makeTarget } from '../../support/agents/links.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool } from '../../support/tools/httpTools.ts';
import { counted, publishedWith, revisionOf } from '../agent/published.ts';

let app: TestApp;
let cache: ResourceCache;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(() => {
  cache = new ResourceCache();
});

type Subject = Awaited<ReturnType<typeof publishedWith>>;

function get(subject: Subject, db = app.workspace.db): Promise<Resources> {
  return cache.get(db, app.workspace.workspaceId, app.service.runtime, subject);
}

/** The resources of a turn that begins now. */
async function getNow(subject: Subject): Promise<Resources> {
  return get({ ...subject, revision: await revisionOf(app.workspace) });
}

async function publishedAgent(fields = {}): Promise<string> {
  const { publicId } = await makeReadyAgent(app, fields);
  await publish(app, publicId);
  return publicId;
}

/** Makes a target that an agent can use. */
function usable(kind: LinkKind): Promise<string> {
  return kind === 'sub_agent' ? publishedAgent() : makeTarget(app, kind);
}

function idsOf(resources: Resources): string[] {
  const { httpTools, externalMcps, nativeMcps, skills, knowledgeSourceIds, subAgents } = resources;
  const rows = [...httpTools, ...externalMcps, ...nativeMcps].map(({ row }) => row.id);
  return [...rows, ...knowledgeSourceIds, ...[...skills, ...subAgents].map(({ id }) => id)];
}

const KINDS = LINK_APIS.map(({ kind }) => kind);

describe('the resources of a version', () => {
  test('are all linked resources in the order of the version, read with one statement', async () => {
    const links: [LinkKind, string][] = [];
    for (const kind of [...KINDS, ...KINDS]) links.push([kind, await usable(kind)]);
    const subject = await publishedWith(app, links);
    const { db, statements } = counted(app.workspace.db);
    const resources = await get(subject, db);
    expect(statements()).toBe(1);
    const wanted = (kind: LinkKind) => links.filter(([each]) => each === kind).map(([, id]) => id);
    expect(idsOf(resources)).toEqual(
      (['http_tool', 'external_mcp', 'native_mcp', 'knowledge_source', 'skill', 'sub_agent'] as const).flatMap(wanted),
    );
    expect(resources.model).toBe(BUILTIN_MODEL);
    expect(resources.nativeMcps[0]).toMatchObject({
      row: { provider: 'builtin', external_id: null, workspace_id: app.workspace.workspaceId },
      instanceMode: 'STATIC',
    });
  });

  test('have the fields that run a tool, without the document of an integration', async () => {
    const configuration = {
      url: 'https://api.example.com/{{input.z}}',
      headers: { b: '{{secret.k}}', a: '1' },
      secrets: { k: 'hidden-key' },
    };
    const { publicId } = await makeTool(app, { configuration, description: 'Orders' });
    const { httpTools } = await get(await publishedWith(app, [['http_tool', publicId]]));
    const { row } = httpTools[0] as (typeof httpTools)[number];
    expect(JSON.stringify(row.configuration)).toBe(JSON.stringify({ ...configuration, secrets: { k: '********' } }));
    expect(row).toMatchObject({ description: 'Orders', operations: null, tool_type: 'HTTP_REQUEST' });
    const { runtime } = app.service;
    expect(openSecrets(runtime.secrets, app.workspace.workspaceId, row)).toEqual({ '/secrets/k': 'hidden-key' });

    const openapi = {
      openapi: '3.0.3',
      servers: [{ url: 'https://api.example.com' }],
      paths: { '/ping': { get: { operationId: 'ping' } } },
    };
    const integration = await makeTool(app, {
      toolType: 'CUSTOM_INTEGRATION',
      configuration: { openapi, operations: ['ping'], auth: { type: 'bearer', secret: 'hidden-token' } },
    });
    const linked = (await get(await publishedWith(app, [['http_tool', integration.publicId]]))).httpTools[0];
    expect(linked?.row.configuration).toEqual({ auth: { type: 'bearer', secret: '********' } });
    expect(linked?.row.operations).toMatchObject([{ operationId: 'ping' }]);
  });

  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('need approval when the link (%s) or the tool (%s) requires it', async (onLink, onTool) => {
    const { publicId } = await makeTool(app, { requiresApproval: onTool });
    const subject = await publishedWith(app, [['http_tool', publicId]]);
    const [link] = subject.snapshot.httpTools;
    const snapshot = { ...subject.snapshot, httpTools: link ? [{ ...link, requiresApproval: onLink }] : [] };
    expect((await get({ ...subject, snapshot })).httpTools[0]?.requiresApproval).toBe(onLink || onTool);
  });

  test('of an external server come with its tools, its credential and the mode of the link', async () => {
    const id = await makeTarget(app, 'external_mcp');
    const { db } = app.workspace;
    const credential = Buffer.from([0, 255, 1, 254, ...Buffer.from('x'.repeat(200))]);
    const tools = [{ id: 't1', name: 'echo', description: null, enabled: true }];
    const columns = {
      auth_type: 'API_KEY' as const,
      credential,
      tools: JSON.stringify(tools),
      input_schemas: '{"t1": {"type": "object"}}',
      config_version: 7,
    };
    await db.updateTable('external_mcps').set(columns).where('id', '=', id).execute();
    const subject = await publishedWith(app, [['external_mcp', id]]);
    const [link] = subject.snapshot.externalMcps ?? [];
    if (!link) throw new Error('not linked');
    const externalMcps = [{ ...link, instanceMode: 'DYNAMIC' as const, requiresApproval: true }];
    const [server] = (await get({ ...subject, snapshot: { ...subject.snapshot, externalMcps } })).externalMcps;
    expect(server).toMatchObject({
      row: {
        id,
        credential,
        tools,
        input_schemas: { t1: { type: 'object' } },
        config_version: 7,
        auth_type: 'API_KEY',
      },
      instanceMode: 'DYNAMIC',
      requiresApproval: true,
    });
  });

  test('have the description of a sub-agent from its link, or else from the agent', async () => {
    const [first, second] = [await publishedAgent({ description: 'Knows taxes' }), await publishedAgent()];
    const subject = await publishedWith(app, [
      ['sub_agent', first],
      ['sub_agent', second],
    ]);
    const { subAgents } = await get(subject);
    expect(subAgents.map(({ description }) => description)).toEqual(['Knows taxes', '']);
    expect(subAgents[0]).toMatchObject({ id: first, publishedVersionNumber: 1, aiModelPublicId: null });
    const snapshot = {
      ...subject.snapshot,
      subAgents: subject.snapshot.subAgents.map((link) => ({ ...link, description: 'For taxes' })),
    };
    const described = await new ResourceCache().get(app.workspace.db, app.workspace.workspaceId, app.service.runtime, {
      ...subject,
      snapshot,
    });
    expect(described.subAgents[0]?.description).toBe('For taxes');
  });
});

describe('unusable resources are left out', () => {
  const remove: Record<Exclude<LinkKind, 'knowledge_source'>, (id: string) => PromiseLike<unknown>> = {
    skill: (id) => app.api('delete', `/skills/${id}`).expect(204),
    http_tool: (id) => app.api('delete', `/http-tools/${id}`).expect(204),
    external_mcp: (id) => app.api('delete', `/external-mcps/${id}`).expect(204),
    native_mcp: (id) => softDeleteConnection(app.workspace.db, app.workspace.workspaceId, id, new Date()),
    sub_agent: (id) => app.api('delete', `/agents/${id}`).expect(204),
  };

  test.each(Object.keys(remove) as (keyof typeof remove)[])('a deleted %s', async (kind) => {
    const [gone, there] = [await usable(kind), await usable(kind)];
    const subject = await publishedWith(app, [
      [kind, gone],
      [kind, there],
    ]);
    expect(idsOf(await getNow(subject))).toEqual([gone, there]);
    await remove[kind](gone);
    expect(idsOf(await getNow(subject))).toEqual([there]);
  });

  test.each(['skill', 'knowledge_source', 'http_tool', 'external_mcp'] as const)(
    'an inactive link to a %s',
    async (kind) => {
      const subject = await publishedWith(app, [[kind, await usable(kind)]]);
      const off = <Link extends object>(links: Link[] = []) => links.map((each) => ({ ...each, active: false }));
      const { skills, knowledgeSources, httpTools, externalMcps } = subject.snapshot;
      const snapshot = {
        ...subject.snapshot,
        skills: off(skills),
        knowledgeSources: off(knowledgeSources),
        httpTools: off(httpTools),
        externalMcps: off(externalMcps),
      };
      expect(idsOf(await get({ ...subject, snapshot }))).toEqual([]);
    },
  );

  test('an agent that was never published, is inactive or archived', async () => {
    const { publicId: draft } = await makeReadyAgent(app);
    // No operation of the API leaves an agent in this state, but a manual change of the database may.
    await app.workspace.db.updateTable('agents').set({ status: 'active' }).where('id', '=', draft).execute();
    const [inactive, archived, fit] = [await publishedAgent(), await publishedAgent(), await publishedAgent()];
    const subject = await publishedWith(
      app,
      [draft, inactive, archived, fit].map((id) => ['sub_agent', id]),
    );
    await setStatus(app.workspace, inactive, 'inactive');
    await setStatus(app.workspace, archived, 'archived');
    expect(idsOf(await getNow(subject))).toEqual([fit]);
  });

  test.each(['PENDING', 'ERROR', 'EXPIRED', 'PENDING_AUTHORIZATION'] as const)(
    'a server that is %s',
    async (status) => {
      const id = await makeTarget(app, 'external_mcp');
      const subject = await publishedWith(app, [['external_mcp', id]]);
      await app.workspace.db
        .updateTable('external_mcps')
        .set({ status, error_message: status === 'ERROR' ? 'It is down.' : null })
        .where('id', '=', id)
        .execute();
      expect(idsOf(await getNow(subject))).toEqual([]);
    },
  );

  test('anything of another workspace', async () => {
    const subject = await publishedWith(app, []);
    const ids = Object.fromEntries(
      await Promise.all(KINDS.map(async (kind) => [kind, await makeTarget(app, kind, app.stranger)] as const)),
    ) as Record<LinkKind, string>;
    await publish(app, (await makeReadyAgent(app, {}, app.stranger.apiKey)).publicId, undefined, app.stranger.apiKey);
    const active = { active: true, requiresApproval: false, instanceMode: 'STATIC' } as const;
    const snapshot = {
      ...subject.snapshot,
      skills: [{ ...active, skillPublicId: ids.skill, skillName: '' }],
      httpTools: [{ ...active, httpToolPublicId: ids.http_tool, toolName: '', toolType: 'HTTP_REQUEST' as const }],
      externalMcps: [{ ...active, externalMcpPublicId: ids.external_mcp, serverName: '' }],
      nativeMcps: [{ ...active, connectionPublicId: ids.native_mcp, connectionName: '' }],
      aiModelPublicId: await addModel(app.stranger),
    };
    const resources = await get({ ...subject, snapshot });
    expect([idsOf(resources), resources.model]).toEqual([[], undefined]);
    // In its own workspace the same version has these resources.
    const { db, workspaceId } = app.stranger;
    const theirs = await cache.get(db, workspaceId, app.service.runtime, { ...subject, snapshot });
    expect(idsOf(theirs)).toHaveLength(4);
    expect(theirs.model).toBeDefined();
  });
});

describe('the model', () => {
  test('can be a custom model of the workspace, and is undefined when it was deleted', async () => {
    const { db, workspaceId } = app.workspace;
    const id = await addModel(app.workspace, {
      input_cost_per_1m_tokens: 0.123456,
      supports_temperature: false,
      min_temperature: null,
      max_temperature: null,
    });
    const { publicId } = await makeReadyAgent(app, { aiModelPublicId: id });
    await publish(app, publicId);
    const snapshot = (await app.service.runtime.snapshot(db, workspaceId, publicId, 1)) as Subject['snapshot'];
    const subject = { agentId: publicId, versionNumber: 1, snapshot, revision: 0 };
    const { model } = await getNow(subject);
    expect(model).toMatchObject({ publicId: id, provider: 'builtin', inputCostPer1MTokens: 0.123456 });
    expect(await app.service.runtime.findModel(db, workspaceId, id)).toMatchObject({ ...model });
    await softDeleteCustomModel(db, workspaceId, id, new Date());
    expect((await getNow(subject)).model).toBeUndefined();
  });

  test('of the catalogue has the current prices, without another read of the database', async () => {
    const subject = await publishedWith(app, []);
    const before = await get(subject);
    const { db, statements } = counted(app.workspace.db);
    const tomorrow = { ...BUILTIN_MODEL, inputCostPer1MTokens: 7 };
    const { workspaceId } = app.workspace;
    const after = await cache.get(db, workspaceId, { findGlobalModel: () => tomorrow }, subject);
    expect([after.model, statements()]).toEqual([tomorrow, 0]);
    expect(after.httpTools).toBe(before.httpTools);
  });
});
