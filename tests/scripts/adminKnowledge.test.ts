import { newId } from '../../core/ids.ts';
import { shelfOf } from '../runtime/knowledge/searchSetting.ts';
import { makeAgent } from '../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const search = (...args: string[]) => run(app.database, 'knowledge', 'search', ...args);

test('search says what an agent finds, and by which words', async () => {
  const { workspaceId, apiKey } = app.workspace;
  const { publicId } = await makeAgent(app, {}, apiKey);
  const shelf = shelfOf(app.workspace);
  const source = await shelf.add(
    [
      'The opening hours of the shop are on the door, and they are the same for all of you.',
      'The parcels that you have ordered are at the desk of the shop.',
    ],
    { name: 'Front desk' },
  );
  await app.workspace.db
    .insertInto('agent_links')
    .values({
      workspace_id: workspaceId,
      agent_id: publicId,
      kind: 'knowledge_source',
      target_id: source,
      active: true,
    })
    .execute();

  const found = await adminJson(app.database, 'knowledge', 'search', '--agent', publicId, 'Where is my parcel?');
  expect(found).toMatchObject({
    agentPublicId: publicId,
    versionNumber: null,
    sourcePublicIds: [source],
    query: 'Where is my parcel?',
    isIncomplete: false,
    hits: [
      {
        sourcePublicId: source,
        seq: 1,
        byWords: { rank: 1, score: expect.any(Number) },
        byMeaning: null,
        matched: [expect.objectContaining({ word: 'parcel', as: expect.arrayContaining(['~parcel']) })],
      },
    ],
  });
  const [word] = found.words.filter((each: { word: string }) => each.word === 'parcel');
  expect(word).toMatchObject({ stems: ['parcel'], passages: 1, rarity: expect.any(Number) });

  const { code, stdout } = await search('--agent', publicId, '--workspace', workspaceId, 'parcel');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^WORD +RARITY +PASSAGES +STEMS/);
  expect(stdout).toContain('1. Front desk, passage 1: score');
  expect(stdout).toMatch(/by words +rank 1, score \d/);
  expect(stdout).toMatch(/by meaning +not found/);
});

test('search of an agent that is not there, or has no sources, says so', async () => {
  expect(await search('--agent', newId(), 'x')).toMatchObject({ code: 1, stderr: expect.stringContaining('no agent') });
  const { publicId } = await makeAgent(app, {}, app.workspace.apiKey);
  expect(await search('--agent', publicId, 'x')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no knowledge sources'),
  });
  expect(await search('x')).toMatchObject({ code: 2, stderr: expect.stringContaining('--agent is missing') });
});
