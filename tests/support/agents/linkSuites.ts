import type { TestApp } from '../http/app.ts';
import { expectMissing, makeArchivedAgent, makeDeletedAgent } from '../http/missing.ts';
import { makeAgent, makeReadyAgent, publish, readAgent, setStatus } from './agents.ts';
import { deleteTarget, type LinkSuiteKind, link, linkApi, linkedIds, linksOf, makeTarget } from './links.ts';

/**
 * What linking and unlinking promise whatever is linked: each operation's test file runs the suite of its operation and adds
 * what its kind alone promises.
 */

type App = () => TestApp;

/** Kinds whose operations answer to a target that does not exist as to one that is not linked. */
const NOT_TOLD_APART: ReadonlySet<LinkSuiteKind> = new Set(['skill', 'knowledge_source', 'http_tool']);

async function make(app: App, key?: string): Promise<string> {
  return (await makeAgent(app(), {}, key)).publicId;
}

/** The operation that links a target. */
export function describeLinking(app: App, kind: LinkSuiteKind): void {
  const api = linkApi(kind);
  const ask = (agentId: string, targetId: unknown) =>
    app()
      .api('post', `/agents/${agentId}/${api.path}`)
      .send({ [api.idField]: targetId });
  const target = () => makeTarget(app(), kind);

  describe('201', () => {
    test('it is an unpublished change, which the next version has', async () => {
      const [agent, id] = [(await makeReadyAgent(app())).publicId, await target()];
      await publish(app(), agent);
      const { status, body } = await ask(agent, id);
      expect([status, await linksOf(app(), agent, api)]).toEqual([201, [body]]);
      expect((await readAgent(app(), agent)).hasUnpublishedChanges).toBe(true);
      expect((await publish(app(), agent)).hasUnpublishedChanges).toBe(false);
      if (!api.versionField) return;
      for (const [version, links] of [[], [body]].entries()) {
        const frozen = await app().api('get', `/agents/${agent}/versions/${version + 1}`);
        expect(frozen.body[api.versionField]).toEqual(links);
      }
    });

    test('several agents may have the same', async () => {
      const [one, two, id] = [await make(app), await make(app), await target()];
      for (const agent of [one, two]) expect((await ask(agent, id)).status).toBe(201);
      for (const agent of [one, two]) expect(await linkedIds(app(), agent, api)).toEqual([id]);
    });

    test('ids in upper case are the same ids', async () => {
      const [agent, id] = [await make(app), await target()];
      const { status, body } = await ask(agent.toUpperCase(), id.toUpperCase());
      expect([status, body[api.idField]]).toEqual([201, id]);
      expect(await linkedIds(app(), agent, api)).toEqual([id]);
      expect((await ask(agent, id.toUpperCase())).body.code).toBe('ALREADY_LINKED');
    });
  });

  describe('400 VALIDATION_ERROR', () => {
    test.each(['no-id', 7, null, undefined])('refuses the id %j', async (id) => {
      const agent = await make(app);
      const { status, body } = await ask(agent, id);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(await linksOf(app(), agent, api)).toEqual([]);
    });
  });

  describe('404 AGENT_NOT_FOUND', () => {
    test("another workspace's agent and a deleted one are treated as one that does not exist, and get nothing", async () => {
      const { apiKey } = app().stranger;
      const [foreign, id] = [await make(app, apiKey), await target()];
      await expectMissing('AGENT_NOT_FOUND', (agentId) => ask(agentId, id), [foreign, await makeDeletedAgent(app())]);
      expect(await linksOf(app(), foreign, api, apiKey)).toEqual([]);
    });
  });

  describe(`404 ${api.notFound}`, () => {
    test("another workspace's and a deleted one are treated as one that does not exist, and the agent is as it was", async () => {
      const [agent, deleted] = [await makeAgent(app()), await target()];
      await deleteTarget(app(), api, deleted);
      const foreign = await makeTarget(app(), kind, app().stranger);
      await expectMissing(api.notFound, (id) => ask(agent.publicId, id), [foreign, deleted]);
      expect(await linksOf(app(), agent.publicId, api)).toEqual([]);
      expect(await readAgent(app(), agent.publicId)).toEqual(agent);
    });
  });

  describe('409 ALREADY_LINKED', () => {
    test('it is linked to an agent once, also by several at the same time, and the link stays as it was', async () => {
      const [agent, id] = [await make(app), await target()];
      const answers = await Promise.all([1, 2, 3, 4].map(() => ask(agent, id)));
      answers.push(await ask(agent, id));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
      const [made, ...refused] = answers.toSorted((a, b) => a.status - b.status);
      expect(refused.map(({ body }) => body.code)).toEqual(Array(4).fill('ALREADY_LINKED'));
      expect(await linksOf(app(), agent, api)).toEqual([made?.body]);
    });
  });

  describe('409 NO_DRAFT_VERSION', () => {
    test('an archived agent has no draft to link to', async () => {
      const { status, body } = await ask(await makeArchivedAgent(app()), await target());
      expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
    });
  });
}

/** The operation that takes a link out. */
export function describeUnlinking(app: App, kind: LinkSuiteKind): void {
  const api = linkApi(kind);
  const ask = (agentId: string, targetId: string) => app().api('delete', `/agents/${agentId}/${api.path}/${targetId}`);
  const target = () => makeTarget(app(), kind);
  const read = async (id: string) => (await app().api('get', `/${api.collection}/${id}`).expect(200)).body;

  describe('204', () => {
    test('the one is out; the others, the target and its other links stay; it can be linked again', async () => {
      const [agent, another] = [await make(app), await make(app)];
      const [id, other] = [await target(), await target()];
      for (const each of [id, other]) await link(app(), agent, api, each);
      const kept = await link(app(), another, api, id);
      const before = await read(id);
      const { status, text } = await ask(agent, id);
      expect([status, text]).toEqual([204, '']);
      expect(await linkedIds(app(), agent, api)).toEqual([other]);
      expect(await linksOf(app(), another, api)).toEqual([kept]);
      expect(await read(id)).toEqual(before);
      await link(app(), agent, api, id);
      expect((await linkedIds(app(), agent, api)).sort()).toEqual([id, other].sort());
    });

    test('it is an unpublished change, the published version keeps it, and linked again all is as before', async () => {
      const [agent, id] = [(await makeReadyAgent(app())).publicId, await target()];
      const linked = await link(app(), agent, api, id);
      await publish(app(), agent);
      await ask(agent, id).expect(204);
      expect((await readAgent(app(), agent)).hasUnpublishedChanges).toBe(true);
      if (api.versionField)
        expect((await app().api('get', `/agents/${agent}/versions/1`)).body[api.versionField]).toEqual([linked]);
      await link(app(), agent, api, id);
      expect((await readAgent(app(), agent)).hasUnpublishedChanges).toBe(false);
    });

    test('ids in upper case are the same ids', async () => {
      const [agent, id] = [await make(app), await target()];
      await link(app(), agent, api, id);
      expect((await ask(agent.toUpperCase(), id.toUpperCase())).status).toBe(204);
      expect(await linksOf(app(), agent, api)).toEqual([]);
    });
  });

  describe('404 AGENT_NOT_FOUND', () => {
    test("another workspace's agent and a deleted one are treated as one that does not exist, and the link stays", async () => {
      const { stranger } = app();
      const [foreign, id] = [await make(app, stranger.apiKey), await makeTarget(app(), kind, stranger)];
      const kept = await link(app(), foreign, api, id, stranger.apiKey);
      await expectMissing('AGENT_NOT_FOUND', (agentId) => ask(agentId, id), [foreign, await makeDeletedAgent(app())]);
      expect(await linksOf(app(), foreign, api, stranger.apiKey)).toEqual([kept]);
    });
  });

  const missing = NOT_TOLD_APART.has(kind) ? 'NOT_LINKED' : api.notFound;
  describe(`404 ${missing}`, () => {
    test("another workspace's and a deleted one are treated as one that does not exist", async () => {
      const [agent, kept, deleted] = [await make(app), await target(), await target()];
      for (const id of [kept, deleted]) await link(app(), agent, api, id);
      await deleteTarget(app(), api, deleted);
      const ids = [await makeTarget(app(), kind, app().stranger), deleted];
      // Where the two are one code, what exists and is not linked answers the same.
      if (missing === 'NOT_LINKED') ids.push(await target());
      await expectMissing(missing, (id) => ask(agent, id), ids);
      expect(await linkedIds(app(), agent, api)).toEqual([kept]);
    });
  });

  describe('404 NOT_LINKED', () => {
    test('what is linked to another agent alone, or not any more', async () => {
      const [agent, other, id, theirs] = [await make(app), await make(app), await target(), await target()];
      await link(app(), agent, api, id);
      await link(app(), other, api, theirs);
      await ask(agent, id).expect(204);
      for (const each of [id, theirs, theirs.toUpperCase()]) {
        const { status, body } = await ask(agent, each);
        expect([status, body.code]).toEqual([404, 'NOT_LINKED']);
      }
      expect(await linkedIds(app(), other, api)).toEqual([theirs]);
    });

    test('of several at the same time one takes it out', async () => {
      const [agent, id] = [await make(app), await target()];
      await link(app(), agent, api, id);
      const answers = await Promise.all([1, 2, 3].map(() => ask(agent, id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    });
  });

  describe('409 NO_DRAFT_VERSION', () => {
    test('an archived agent has no draft to unlink from, and keeps its links', async () => {
      const [agent, id] = [await make(app), await target()];
      await link(app(), agent, api, id);
      await setStatus(app().workspace, agent, 'archived');
      const { status, body } = await ask(agent, id);
      expect([status, body.code]).toEqual([409, 'NO_DRAFT_VERSION']);
      const { db, workspaceId } = app().workspace;
      const left = db.selectFrom('agent_links').select('target_id').where('workspace_id', '=', workspaceId);
      expect(await left.where('agent_id', '=', agent).execute()).toEqual([{ target_id: id }]);
    });
  });
}
