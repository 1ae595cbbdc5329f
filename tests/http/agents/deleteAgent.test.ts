import { insertLinks } from '../../../db/queries/agents/agentLinks.ts';
import { lockAgent } from '../../../db/queries/agents/agents.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { makeAgent, readAgent, setStatus } from '../../support/agents/agents.ts';
import { makeTarget } from '../../support/agents/links.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeConversation } from '../conversations/conversations.ts';
import { allNotFound, answersForMissing } from './agents.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('204', () => {
  test('every operation returns 404 for the agent', async () => {
    const { publicId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
    const other = await makeAgent(app);
    const answer = await app.api('delete', `/agents/${publicId}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const after = [
      await app.api('get', `/agents/${publicId}`),
      await app.api('patch', `/agents/${publicId}`).send({ description: 'x' }),
      await app.api('post', `/agents/${publicId}/publish`),
      await app.api('delete', `/agents/${publicId}`),
    ];
    expect(after.map(({ status, body }) => [status, body.code])).toEqual(after.map(() => [404, 'AGENT_NOT_FOUND']));
    const { body } = await app.api('get', '/agents?includeArchived=true');
    const ids = body.items.map((item: { publicId: string }) => item.publicId);
    expect(ids).toContain(other.publicId);
    expect(ids).not.toContain(publicId);
  });

  test('its name is free again', async () => {
    const { publicId, name } = await makeAgent(app);
    await app.api('delete', `/agents/${publicId}`);
    const { status, body } = await app.api('post', '/agents').send({ name });
    expect(status).toBe(201);
    expect(body.publicId).not.toBe(publicId);
  });

  test('its conversations stay readable', async () => {
    const { publicId } = await makeAgent(app);
    const conversation = await makeConversation(app, { agentId: publicId });
    await app.api('delete', `/agents/${publicId}`);
    expect((await app.api('get', `/conversations/${conversation}`)).status).toBe(200);
    expect((await app.api('get', `/conversations/${conversation}/messages`)).body.total).toBe(2);
  });

  test('deletes an agent of any status', async () => {
    const published = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
    await app.api('post', `/agents/${published.publicId}/publish`);
    const archived = await makeAgent(app);
    await setStatus(app.workspace, archived.publicId, 'archived');
    for (const { publicId } of [published, archived])
      expect((await app.api('delete', `/agents/${publicId}`)).status).toBe(204);
  });

  test('a link that is made at the same time is deleted too', async () => {
    const { publicId: id } = await makeAgent(app);
    const { workspaceId, db } = app.workspace;
    const target_id = await makeTarget(app, 'skill');
    let deleting: Promise<{ status: number }> | undefined;
    await db.transaction().execute(async (trx) => {
      await lockAgent(trx, workspaceId, id);
      await insertLinks(trx, [{ workspace_id: workspaceId, agent_id: id, kind: 'skill', target_id }]);
      deleting = app.api('delete', `/agents/${id}`).then((answer) => answer);
      await untilOneWaits(app.database.name);
    });
    expect((await deleting)?.status).toBe(204);
    expect(await db.selectFrom('agent_links').select('kind').where('agent_id', '=', id).execute()).toEqual([]);
  });

  test('of concurrent requests exactly one deletes it', async () => {
    const { publicId } = await makeAgent(app);
    const answers = await Promise.all(Array.from({ length: 6 }, () => app.api('delete', `/agents/${publicId}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404]);
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test('an unknown agent, a deleted one and another workspace’s get the same response, and the latter stays', async () => {
    const { answers, foreign } = await answersForMissing(app, (id) => app.api('delete', `/agents/${id}`));
    expect(answers).toEqual(allNotFound);
    expect(await readAgent(app, foreign.publicId, app.stranger.apiKey)).toEqual(foreign);
  });
});
