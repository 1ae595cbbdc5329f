import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import { createHttpServer } from '../../../../server/httpServer.ts';
import { mcpRoutes } from '../../../../server/routes/mcp/routes.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { conformanceServer } from './conformanceServer.ts';
import { doorParts } from './doorParts.ts';
import { type KeyedProxy, startKeyedProxy } from './keyedProxy.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

let app: TestApp;
let proxy: KeyedProxy;
let folder: string;
beforeAll(async () => {
  app = await startTestApp();
  proxy = await startKeyedProxy(app.origin, app.workspace.apiKey);
  folder = await mkdtemp(join(tmpdir(), 'guildhall-conformance-'));
});
afterAll(async () => {
  await proxy.close();
  await app.close();
  await rm(folder, { recursive: true });
});

/** Scenarios of tools that ask for input, which also pass where there is no such tool. */
const AGAINST_ANY_SERVER = [
  'input-required-result-missing-input-response',
  'input-required-result-unsupported-methods',
  'input-required-result-ignore-extra-params',
  'input-required-result-validate-input',
];

/** Runs the suite against an address and returns the scenarios that pass. Throws its output when it finds other failures than a file lists. */
async function passedAt(url: string, expected: string): Promise<(string | undefined)[]> {
  const args = [
    SUITE,
    'server',
    '--url',
    url,
    '--suite',
    'all',
    '--expected-failures',
    join(import.meta.dirname, expected),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 120_000 }).catch(
    ({ stdout: out, stderr }) => {
      throw new Error(`${out}\n${stderr}`);
    },
  );
  return [...stdout.matchAll(/^✓ (\S+): (?!0 passed)/gm)].map(([, name]) => name);
}

test('the conformance suite of the MCP project finds what conformance.yml says, no more and no less', async () => {
  expect(await passedAt(`${proxy.origin}/mcp`, 'conformance.yml')).toEqual([
    'server-initialize',
    'ping',
    'completion-complete',
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'sep-2640-skills-directory',
    'sep-2640-skills-enumeration',
    'sep-2640-skills-manifest',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    ...AGAINST_ANY_SERVER,
  ]);
});

test('a server made for the suite passes it through the same door, but for what needs a session', async () => {
  const loadServers = async () => {
    const servers = await import('../../../../clients/mcp/http.ts');
    return {
      ...servers,
      serveWorkspace: (exchange: Parameters<typeof servers.answerWith>[0]) =>
        servers.answerWith(exchange, conformanceServer),
    };
  };
  const http = createHttpServer();
  http.handle(express().use('/mcp', mcpRoutes({ ...doorParts(app), loadServers })));
  const door = await startKeyedProxy(`http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`, app.workspace.apiKey);
  try {
    expect(await passedAt(`${door.origin}/mcp`, 'conformanceDoor.yml')).toHaveLength(34);
  } finally {
    await door.close();
    http.cut();
    await http.close();
  }
});
