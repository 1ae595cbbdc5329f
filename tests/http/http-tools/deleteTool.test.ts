import { makeAgent, makeReadyAgent, publish, readAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool, tryTool } from '../../support/tools/httpTools.ts';
import { allNotFound, answersForMissing } from './tools.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (id: string) => app.api('delete', `/http-tools/${id}`);
const linkTo = (agentId: string, httpToolPublicId: string) =>
  app.api('post', `/agents/${agentId}/http-tools`).send({ httpToolPublicId });

describe('204', () => {
  test('the tool is gone, and a second request finds nothing to delete', async () => {
    const { publicId } = await makeTool(app);
    expect((await remove(publicId)).status).toBe(204);
    expect((await app.api('get', `/http-tools/${publicId}`)).status).toBe(404);
    expect((await remove(publicId)).status).toBe(404);
  });

  test('it leaves the draft of every agent, which is an unpublished change', async () => {
    const [one, two] = [await makeReadyAgent(app), await makeAgent(app)];
    const [tool, other] = [await makeTool(app), await makeTool(app)];
    for (const { publicId } of [one, two]) await linkTo(publicId, tool.publicId);
    await linkTo(two.publicId, other.publicId);
    await publish(app, one.publicId);
    expect((await remove(tool.publicId)).status).toBe(204);
    expect((await app.api('get', `/agents/${one.publicId}/http-tools`)).body).toEqual([]);
    expect((await app.api('get', `/agents/${two.publicId}/http-tools`)).body).toMatchObject([
      { httpToolPublicId: other.publicId },
    ]);
    expect((await readAgent(app, one.publicId)).hasUnpublishedChanges).toBe(true);
  });

  test('its secrets are erased', async () => {
    const configuration = { url: 'https://api.example.com', secrets: { a: 'abc' } };
    const { publicId } = await makeTool(app, { configuration });
    await remove(publicId);
    const { db, workspaceId } = app.workspace;
    const row = db.selectFrom('http_tools').select('secrets').where('workspace_id', '=', workspaceId);
    expect(await row.where('id', '=', publicId).executeTakeFirst()).toEqual({ secrets: null });
  });
});

describe('204 of an INTERNAL_VARIABLE', () => {
  const variable = { name: 'stage', type: 'number', scope: 'workspace', writable: true } as const;
  const makeVariableTool = () => makeTool(app, { toolType: 'INTERNAL_VARIABLE', configuration: variable });
  const values = () => app.workspace.db.selectFrom('tool_variables').select(['tool_id', 'value']).execute();

  test('the values of its variable are erased, and those of other tools stay', async () => {
    const [tool, other] = [await makeVariableTool(), await makeVariableTool()];
    for (const { publicId } of [tool, other]) await tryTool(app, publicId, { value: 7 });
    expect(await values()).toHaveLength(2);
    expect((await remove(tool.publicId)).status).toBe(204);
    expect(await values()).toEqual([{ tool_id: other.publicId, value: 7 }]);
    await remove(other.publicId);
  });

  test('a write at the same time leaves no value', async () => {
    const tools = await Promise.all(Array.from({ length: 5 }, makeVariableTool));
    await Promise.all(
      tools.flatMap(({ publicId }) => [
        ...[1, 2, 3].map((value) => app.api('post', `/http-tools/${publicId}/test`).send({ inputs: { value } })),
        remove(publicId).expect(204),
      ]),
    );
    expect(await values()).toEqual([]);
  });
});

describe('404 HTTP_TOOL_NOT_FOUND', () => {
  test("a deleted tool and another workspace's are treated as one that does not exist", async () => {
    expect(await answersForMissing(app, remove)).toEqual(allNotFound);
  });
});
