import type { TestApp } from '../http/app.ts';
import { describeMissingAgent, describeMissingDraft } from '../http/missing.ts';
import { makeAgent } from './agents.ts';
import { deleteTarget, type LinkSuiteKind, link, linkApi, makeTarget } from './links.ts';

/** What the lists of links and of what can be linked promise whatever is linked; as linkSuites.ts. */

type App = () => TestApp;

async function make(app: App, key?: string): Promise<string> {
  return (await makeAgent(app(), {}, key)).publicId;
}

/** The operation that lists links. */
export function describeListingLinks(app: App, kind: LinkSuiteKind): void {
  const api = linkApi(kind);
  const ask = (agentId: string) => app().api('get', `/agents/${agentId}/${api.path}`);
  const target = () => makeTarget(app(), kind);

  describe('200', () => {
    test('an agent begins without', async () => {
      const [agent, other] = [await make(app), await make(app)];
      await link(app(), other, api, await target());
      const { status, body } = await ask(agent);
      expect([status, body]).toEqual([200, []]);
    });

    test('last linked first, or by place where links have one; whatever the age; under the names of now', async () => {
      const [agent, one, two, three] = [await make(app), await target(), await target(), await target()];
      const links = [];
      for (const id of [three, one, two]) links.push(await link(app(), agent, api, id));
      if (kind !== 'sub_agent') links.reverse();
      const name = `renamed-${kind}`;
      await app().api('patch', `/${api.collection}/${one}`).send({ name }).expect(200);
      const { status, body } = await ask(agent);
      expect(status).toBe(200);
      expect(body).toEqual(
        links.map((each) => (each[api.idField] === one ? { ...each, [api.nameField]: name } : each)),
      );
    });
  });

  describeMissingAgent(app, ask);
  describeMissingDraft(app, ask);
}

/**
 * The operation that lists what can be linked, where that is all that is not linked: all kinds but agents, of which some would
 * close a cycle. `shown` are the fields of a target that it shows, `also` those that a target's
 * own operation does not, as makeTarget sets them.
 */
export function describeListingAvailable(
  app: App,
  kind: Exclude<LinkSuiteKind, 'sub_agent'>,
  shown: readonly string[],
  also: object = {},
): void {
  const api = linkApi(kind);
  const ask = (agentId: string, key?: string) => app().api('get', `/agents/${agentId}/${api.path}/available`, key);

  describe('200', () => {
    test("what is the workspace's and not linked to this agent, newest first, with what a choice needs", async () => {
      const owner = await app().database.seedWorkspace();
      const { apiKey } = owner;
      // Made in another order than their times say.
      const made = (second: number) => makeTarget(app(), kind, owner, new Date(Date.UTC(2026, 0, 1, 0, 0, second)));
      const newest = await made(5);
      const oldest = await made(1);
      const linked = await made(2);
      const elsewhere = await made(3);
      const deleted = await made(4);
      await makeTarget(app(), kind, app().stranger);
      await deleteTarget(app(), api, deleted, owner);
      const [agent, other] = [await make(app, apiKey), await make(app, apiKey)];
      await link(app(), agent, api, linked, apiKey);
      await link(app(), other, api, elsewhere, apiKey);

      const { status, body } = await ask(agent, apiKey);
      const expected = [];
      for (const id of [newest, elsewhere, oldest]) {
        const whole = (await app().api('get', `/${api.collection}/${id}`, apiKey).expect(200)).body;
        expected.push({ ...Object.fromEntries(shown.map((field) => [field, whole[field]])), ...also });
      }
      expect([status, body]).toEqual([200, expected]);

      await app().api('delete', `/agents/${agent}/${api.path}/${linked}`, apiKey).expect(204);
      const again = await ask(agent, apiKey);
      const ids = again.body.map(({ publicId }: { publicId: string }) => publicId);
      expect(ids).toEqual([newest, elsewhere, linked, oldest]);
      for (const id of ids) await link(app(), agent, api, id, apiKey);
      expect((await ask(agent, apiKey)).body).toEqual([]);
    });
  });

  describeMissingAgent(app, ask);
  describeMissingDraft(app, ask);
}
