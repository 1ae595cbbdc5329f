import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LimitValues } from '../../../db/queries/workspaces/limits.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { skillMd, uploadSkill } from '../../support/tools/skills.ts';

/** What a workspace may have of things that are stored: the operations that add them have no code of their own for that. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => app.close());

type Answer = { status: number; headers: Record<string, string>; body: { code?: string; message: string } };

/** Sends 50 requests at once, and counts their outcomes. */
async function outcomes(ask: (index: number) => PromiseLike<Answer>) {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(index)));
  const counted: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status === 429 ? `429 ${body.code}` : String(status);
    counted[outcome] = (counted[outcome] ?? 0) + 1;
  }
  return { counted, refused: answers.find(({ status }) => status === 429) };
}

const seed = (limits: LimitValues): Promise<SeededWorkspace> => app.database.seedWorkspace({ limits });
const add = {
  skill: ({ apiKey }: SeededWorkspace, text = 'Do it.') =>
    uploadSkill(app, `${skillMd()}\n${text}`, 'SKILL.md', apiKey) as PromiseLike<Answer>,
  source: ({ apiKey }: SeededWorkspace, textContent = 'Notes.') =>
    app.api('post', '/knowledge-sources', apiKey).send({ name: 'Notes', textContent }) as PromiseLike<Answer>,
  // Nothing listens there: the server is kept with its error.
  server: ({ apiKey }: SeededWorkspace, name: string) =>
    app
      .api('post', '/external-mcps', apiKey)
      .send({ name, url: 'https://127.0.0.1:9/mcp', authType: 'NONE' }) as PromiseLike<Answer>,
};
const TEN = { '201': 10, '429 RATE_LIMITED': 40 };

describe('429 RATE_LIMITED', () => {
  test.each([
    ['skills', { skill_limit: 10 }, (workspace: SeededWorkspace) => add.skill(workspace)],
    ['knowledge sources', { knowledge_source_limit: 10 }, (workspace: SeededWorkspace) => add.source(workspace)],
    [
      'MCP servers',
      { external_mcp_limit: 10 },
      (workspace: SeededWorkspace, index: number) => add.server(workspace, `s${index}`),
    ],
  ])('50 %s at once: those that the limit leaves room for are stored', async (name, limits, ask) => {
    const workspace = await seed(limits);
    const { counted, refused } = await outcomes((index) => ask(workspace, index));
    expect(counted).toEqual(TEN);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused?.body.message).toContain(`${name} as its limit of 10`);
    // Another workspace has its own limit.
    expect((await ask(app.stranger, 0)).status).toBe(201);
  });

  test('50 texts at once: the bytes that the storage has room for are stored', async () => {
    const workspace = await seed({ storage_limit: 10 * 1000 + 999 });
    const { counted, refused } = await outcomes(() => add.source(workspace, 'x'.repeat(1000)));
    expect(counted).toEqual(TEN);
    expect(refused?.body.message).toContain('limit of 10999 bytes');
    const files = await readdir(join(app.dataDir, 'files', workspace.workspaceId, 'knowledge'));
    expect(files).toHaveLength(10);
    // Skills and sources share the storage.
    expect((await add.skill(workspace, 'x'.repeat(1000))).status).toBe(429);
    expect((await add.source(workspace, 'x'.repeat(999))).status).toBe(201);
    expect((await add.source(workspace, 'x')).status).toBe(429);
  });

  test('what is deleted makes room', async () => {
    const workspace = await seed({ skill_limit: 1, knowledge_source_limit: 1, external_mcp_limit: 1 });
    const asks = {
      '/skills': () => add.skill(workspace),
      '/knowledge-sources': () => add.source(workspace),
      '/external-mcps': () => add.server(workspace, 'orders'),
    };
    for (const [path, ask] of Object.entries(asks)) {
      const first = (await ask()) as unknown as { status: number; body: { publicId: string } };
      expect([first.status, (await ask()).status]).toEqual([201, 429]);
      await app.api('delete', `${path}/${first.body.publicId}`, workspace.apiKey).expect(204);
      expect((await ask()).status).toBe(201);
    }
  });

  test('a refused request is not the answer to its Idempotency-Key', async () => {
    const workspace = await seed({ skill_limit: 0 });
    const md = skillMd();
    const ask = () => uploadSkill(app, md, 'SKILL.md', workspace.apiKey).set('Idempotency-Key', 'once');
    expect((await ask()).status).toBe(429);
    const { system } = app.database.database;
    await system.updateTable('workspaces').set({ skill_limit: 1 }).where('id', '=', workspace.workspaceId).execute();
    expect((await ask()).status).toBe(201);
  });
});
