import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { installedBrowser, startBrowser } from '../../support/browser/browser.ts';
import { useModelApp } from '../../support/http/modelApp.ts';

/*
 * The package as a stranger gets it: packed, installed in an empty project, compiled against its types, run on the Node.js of the machine and in
 * a page.
 */
const root = join(import.meta.dirname, '../../..');
const here = useModelApp();
const run = promisify(execFile);

/** A Node.js of the machine that is older than ours: what the package promises, and what is not shown where there is none. */
const olderNode = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((path) => /^v2[0-2]\./.test(versionOf(path)));
const browser = installedBrowser();

function versionOf(path: string): string {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

let project: string;

/** The examples of the README as one program: imports first, because they are where a reader needs them. */
function examples(): string {
  const readme = readFileSync(join(root, 'clients/sdk/README.md'), 'utf8');
  const code = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block]) => block).join('\n');
  const imports = code.match(/^import .*$/gm) ?? [];
  return [...imports, code.replaceAll(/^import .*$/gm, '')].join('\n');
}

/** Compiles as strictly as `tsc` can, with the types of the packages. */
async function compile(moduleResolution: 'nodenext' | 'bundler', files: string[]): Promise<string> {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext',
    moduleResolution,
    strict: true,
    exactOptionalPropertyTypes: moduleResolution === 'nodenext',
    noUncheckedIndexedAccess: true,
    skipLibCheck: moduleResolution === 'bundler',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    rootDir: '.',
    outDir: 'built',
    noEmit: moduleResolution === 'bundler',
  };
  const config = join(project, `tsconfig.${moduleResolution}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return run(process.execPath, [tsc, '-p', config], { cwd: project }).then(
    () => 'compiled',
    (error: { stdout: string }) => error.stdout,
  );
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'guildhall-sdk-package-'));
  const npm = (args: string[]) =>
    run('npm', args, { cwd: project, env: { ...process.env, npm_config_offline: 'true' } });
  const pack = async (folder: string, ...args: string[]) =>
    (await npm(['pack', folder, '--json', ...args])).stdout.match(/"filename": "(.+?)"/)?.[1] ?? '';
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers', 'eventsource-parser'];
  // The registry is not asked: what the package depends on is packed from where it is installed.
  const tarballs = await Promise.all([
    pack(join(root, 'clients/sdk')),
    ...dependencies.map((name) => pack(join(root, 'node_modules', name), '--ignore-scripts')),
  ]);
  writeFileSync(join(project, 'package.json'), '{"name": "stranger", "private": true, "type": "module"}');
  await npm(['install', '--no-audit', '--no-fund', ...tarballs.map((file) => `./${file}`)]);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

test('the version is that of the document, and the package is named as the document says', () => {
  const installed = JSON.parse(readFileSync(join(project, 'node_modules/guildhall-sdk/package.json'), 'utf8'));
  const { info } = JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
  const declared = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies;
  expect([installed.name, installed.version]).toEqual(['guildhall-sdk', info.version]);
  // npm warns everybody who installs a package with a script `prepare` or `postinstall`.
  expect(Object.keys(installed.scripts)).toEqual(['prepack']);
  expect(installed.dependencies['openapi-fetch']).toBe(declared['openapi-fetch']);
  expect(installed.dependencies['eventsource-parser']).toContain(`^${declared['eventsource-parser']}`);
  expect(readFileSync(join(project, 'node_modules/guildhall-sdk/LICENSE'), 'utf8')).toMatch(/^MIT License/);
});

describe('the examples of the README', () => {
  beforeAll(() => {
    writeFileSync(join(project, 'examples.ts'), examples());
    writeFileSync(join(project, 'returns.md'), 'Goods can be returned within 30 days.');
  });

  test('compile with moduleResolution nodenext, and every line of the types of the package does', async () => {
    expect(await compile('nodenext', ['examples.ts'])).toBe('compiled');
  });

  test('their imports compile with moduleResolution bundler', async () => {
    const imports = "import { guildhall } from 'guildhall-sdk';\nimport { fileFrom } from 'guildhall-sdk/node';\n";
    const use = "export const health = guildhall().call('getHealth');\nexport const file = fileFrom('x');\n";
    const wrong = "// @ts-expect-error: types that were lost would take any name\nguildhall().call('getHealht');\n";
    writeFileSync(join(project, 'imports.ts'), imports + use + wrong);
    expect(await compile('bundler', ['imports.ts'])).toBe('compiled');
  });

  const runs = (name: string, node: string | undefined) =>
    (node ? test : test.skip)(`run on ${name}`, async () => {
      const env = { GUILDHALL_API_KEY: here.app.workspace.apiKey, GUILDHALL_BASE_URL: here.app.origin };
      here.server.script({ reply: ['Camomile ', 'is good.'] });
      const { stdout, stderr } = await run(node ?? '', [join(project, 'built/examples.js')], { cwd: project, env });
      expect(stderr).toBe('');
      expect(stdout).toContain('Camomile is good.');
      expect(stdout).toContain('Shop active');
      expect(stdout).toContain('There is one already.');
      expect(stdout).toMatch(/^200 \S+\nShop$/m);
    });
  runs(
    olderNode
      ? `an older Node.js, ${versionOf(olderNode).trim()}`
      : 'an older Node.js: the machine has none from 20 to 22',
    olderNode,
  );
});

describe('in a page', () => {
  const program = `
    import { guildhall, GuildhallError } from 'guildhall-sdk';
    globalThis.walk = async (apiKey) => {
      const api = guildhall({ apiKey, baseUrl: location.origin });
      const [model] = await api.call('listAiModels', { query: { activeOnly: true } });
      const { publicId: agentPublicId } = await api.call('createAgent', { body: { name: 'Page' } });
      const path = { agentPublicId };
      await api.call('updateAgent', { path, body: { aiModelPublicId: model.publicId } });
      await api.call('publishAgent', { path });
      const events = [];
      for await (const { event } of api.events({ path, body: { content: 'Hello' } })) events.push(event);
      const file = { data: new File(['Ask first.'], 'ignored.txt', { type: 'text/markdown' }), name: 'notes.md' };
      const source = await api.call('createKnowledgeSource', { file, metadata: { name: 'Notes' } });
      const names = [];
      for await (const { name } of api.items('listKnowledgeSources')) names.push(name);
      const code = await api.call('createAgent', { body: { name: 'Page' } }).catch((error) => GuildhallError.of(error, 'createAgent') && error.code);
      const { data } = await api.http.GET('/health');
      const dead = await guildhall({ baseUrl: 'http://127.0.0.1:9', retries: 0 }).call('getHealth').catch((error) => error.name);
      return { first: events[0], last: events.at(-1), source: source.name, names, code, status: data.status, dead };
    };`;

  (browser ? test : test.skip)(`the bundle works${browser ? '' : ': the machine has no Chromium'}`, async () => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: project },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      minify: true,
      write: false,
    });
    const [bundle] = outputFiles;
    expect(bundle?.contents.length).toBeLessThan(45_000);
    const chromium = await startBrowser(browser ?? '');
    try {
      const page = await chromium.newPage();
      // A page of the service's own origin: it takes no API calls from others.
      const html = `<script>${bundle?.text.replaceAll('</script', '<\\/script')}</script>`;
      await page.route(`${here.app.origin}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
      await page.goto(`${here.app.origin}/page`);
      expect(await walk(page)).toEqual({
        first: 'conversation-id',
        last: 'debug-info',
        source: 'Notes',
        names: ['Notes'],
        code: 'AGENT_NAME_TAKEN',
        status: 'ok',
        dead: 'ConnectionError',
      });
    } finally {
      await chromium.close();
    }
  });

  const walk = (page: Page) =>
    page.evaluate(
      (key) => (globalThis as unknown as { walk(key: string): Promise<unknown> }).walk(key),
      here.app.stranger.apiKey,
    );
});
