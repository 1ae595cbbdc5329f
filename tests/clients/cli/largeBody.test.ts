import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiDocument } from '../../support/apiDocuments/apiDocuments.ts';
import { guildhallCommand } from '../../support/clients/commandLine.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'guildhall-large-'));
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

test('a tool is made of an API document of 13 MB in a file', async () => {
  const openapi = JSON.parse(apiDocument('github').toString());
  const operations = ['issues/create', 'GET /gists'];
  const tool = { name: 'github', toolType: 'CUSTOM_INTEGRATION', configuration: { openapi, operations } };
  await writeFile(join(folder, 'github.json'), JSON.stringify(tool));
  const line = ['http-tools', 'create', '--body', '@github.json'];
  const env = { GUILDHALL_BASE_URL: app.origin, GUILDHALL_API_KEY: app.workspace.apiKey };
  const { exitCode, stdout, stderr } = await guildhallCommand(line, { env, cwd: folder });
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(Object.keys(JSON.parse(stdout).configuration.openapi.paths)).toEqual([
    '/repos/{owner}/{repo}/issues',
    '/gists',
  ]);
});
