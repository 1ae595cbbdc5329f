import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkGenerator, judgeResults, judgeSteps, newWarning, type Result } from '../../scripts/sdkCheck/check.ts';
import { warningsIn } from '../../scripts/sdkCheck/commandLine.ts';
import type { Generator } from '../../scripts/sdkCheck/generator.ts';
import { generators } from '../../scripts/sdkCheck/generators.ts';
import { callApi, type Guildhall } from '../../scripts/sdkCheck/service.ts';
import { prepareScene, type Scene, STEPS } from '../../scripts/sdkCheck/steps.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';

const ROOT = join(import.meta.dirname, '../..');
let app: TestApp;
let guildhall: Guildhall;
let scene: Scene;
let folder: string;
let scenes = 0;

beforeAll(async () => {
  app = await startTestApp();
  guildhall = { origin: app.origin, apiKey: app.workspace.apiKey };
  folder = await mkdtemp(join(tmpdir(), 'guildhall-sdk-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
beforeEach(async () => {
  scenes += 1;
  // Names of tools have no digits.
  scene = await prepareScene(
    guildhall,
    `scene-${String(scenes).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`,
  );
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const call = (method: string, path: string, body?: object) => callApi(guildhall, method, path, body);

/** What the check says of one step, after a program printed this. */
async function verdict(step: (typeof STEPS)[number], ...values: unknown[]): Promise<string> {
  return (await judgeSteps([step, ...values].join('\t'), scene.verify))[step];
}

describe('a step counts when the service holds what it should', () => {
  test.each([
    ['the description alone', { description: 'Changed.' }, 'ok'],
    ['an empty list of categories with it', { description: 'Changed.', categories: [] }, '"categories":[]'],
    ['null for a setting with it', { description: 'Changed.', webSearchEnabled: null }, '"webSearchEnabled":false'],
    ['a value for a setting that had none', { description: 'Changed.', temperature: 0 }, '"temperature":0'],
    ['nothing', {}, '"description":null'],
  ])('patch sends %s', async (_, body, said) => {
    await call('PATCH', `/agents/${scene.env.PATCHED_AGENT}`, body);
    expect(await verdict('patch')).toContain(said);
  });

  test.each([
    ['the switch alone', {}, 'ok'],
    ['an empty list inside the configuration with it', { schema: { type: 'object', required: [] } }, '"inputSchema"'],
  ])('patchNested sends %s', async (_, { schema }: { schema?: object }, said) => {
    const path = `/http-tools/${scene.env.PATCHED_TOOL}`;
    const { configuration } = await call('GET', path);
    const changed = schema && { configuration: { ...(configuration as object), inputSchema: schema } };
    await call('PATCH', path, { requiresApproval: true, ...changed });
    expect(await verdict('patchNested')).toContain(said);
  });

  test('create says which agent it made, and the agent has what was sent', async () => {
    const name = `${scene.env.SCENE} created`;
    const { publicId } = await call('POST', '/agents', { name, categories: ['one', 'two'] });
    expect(await verdict('create', publicId)).toBe('ok');
    expect(await verdict('create', scene.env.PATCHED_AGENT)).toContain('patched');
  });

  test('publish and readBack count when the service has the version and the client has read what was said', async () => {
    const path = `/agents/${scene.env.REPLYING_AGENT}`;
    expect(await verdict('publish', 'active')).toMatch(/404/);
    await call('PATCH', path, { aiModelPublicId: scene.env.MODEL });
    await call('POST', `${path}/publish`, { notes: 'First version' });
    expect(await verdict('publish', 'active')).toBe('ok');
    expect(await verdict('publish', 'draft')).toContain('not');
    const { conversationId, messages } = await call('POST', `${path}/messages`, { content: scene.env.QUESTION });
    const said = [scene.env.QUESTION, ...(messages as { content: string }[]).map(({ content }) => content)];
    const { items } = await call('GET', `/conversations/${conversationId}/messages`);
    const texts = (items as { content: string }[]).map(({ content }) => content);
    expect(texts.toSorted()).toEqual(said.toSorted());
    const lines = texts.map((text) => text.replaceAll(/\s+/g, ' '));
    expect(await verdict('readBack', conversationId, ...lines)).toBe('ok');
    expect(await verdict('readBack', conversationId, ...lines.slice(1))).toContain('not');
  });

  test('list says what the filters leave: a filter that the client drops changes the total', async () => {
    const query = (text: string) => call('GET', `/agents?${text}page=1&limit=2`);
    const printed = ({ total, items }: Record<string, unknown>) => [
      total,
      ...(items as { publicId: string }[]).map(({ publicId }) => publicId),
    ];
    const name = scene.env.SCENE;
    const filters = [
      'status=draft&status=active&',
      `search=${name}%20LISTED&`,
      `categories=${name}-a&categories=${name}-b&`,
    ];
    expect(await verdict('list', ...printed(await query(filters.join(''))))).toBe('ok');
    for (const dropped of filters.slice(1))
      expect(await verdict('list', ...printed(await query(filters.join('').replace(dropped, ''))))).toContain('not');
  });
});

test('a step that failed or that the program does not name is wrong, unless clients of the generator cannot do it', async () => {
  const verdicts = await judgeSteps('!send\tRefused: 400\nerror\tAGENT_NOT_FOUND', scene.verify, {
    stream: 'No streams.',
  });
  expect(verdicts).toMatchObject({
    send: 'Refused: 400',
    error: 'ok',
    stream: 'No streams.',
    create: 'The program says nothing of it.',
  });
  expect(Object.keys(verdicts)).toEqual([...STEPS]);
});

test('a document whose types a generator makes wrong fails, with the first error of the compiler', async () => {
  const generated = JSON.parse(await readFile(join(ROOT, 'generated/openapi.json'), 'utf8'));
  // openapi-typescript makes a field with a default a required one.
  generated.components.schemas.MessageSend.properties.timeoutSeconds.default = 60;
  const document = join(folder, 'openapi.json');
  await writeFile(document, JSON.stringify(generated));
  const generator = generators.find(({ name }) => name === 'openapi-typescript') as Generator;
  const place = { document, folder: join(folder, 'client'), cache: folder };
  expect(await checkGenerator(generator, place, guildhall)).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/^compile: use\.ts\(\d+,\d+\): error TS2322: Type '\{ content: string; \}'/),
  });
});

test('a document that a generator refuses fails', async () => {
  const document = join(folder, 'broken.json');
  await writeFile(document, '{"openapi": "3.1.1", "paths": {"/agents": {"$ref": "#/nowhere"}}}');
  const place = { document, folder: join(folder, 'client'), cache: folder };
  for (const generator of generators.filter(({ fast }) => fast))
    expect(await checkGenerator(generator, place, guildhall)).toMatchObject({ outcome: 'failed' });
});

test('a generator whose tools are missing, or that is not to be had, is skipped with the reason', async () => {
  const [generator] = generators as [Generator];
  const place = { document: '', folder: join(folder, 'client'), cache: folder };
  const without = { ...generator, tools: ['sh', 'no-such-compiler'] };
  expect(await checkGenerator(without, place, guildhall)).toMatchObject({
    outcome: 'skipped',
    reason: 'no no-such-compiler here',
  });
  const install = () => Promise.reject(new Error('the registry does not answer'));
  expect(await checkGenerator({ ...generator, install }, place, guildhall)).toMatchObject({
    outcome: 'skipped',
    reason: 'the registry does not answer',
  });
});

test('a warning of a generator fails the check unless it was judged', async () => {
  const lines =
    '[main] WARN  Unused (model): A\n12:01 INFO fine\n12:02 warning: no type 7\n12:03 warning: no type 8\nwarnings of old';
  expect(warningsIn(lines)).toEqual(['[main] WARN  Unused (model): A', '12:02 warning: no type 7', 'warnings of old']);
  const judged = [
    { text: 'Unused (model)', why: 'It is used.' },
    { text: /no type \d/, why: 'There is one.' },
  ];
  expect(newWarning(warningsIn(lines), judged)).toBe('warnings of old');
  expect(newWarning(warningsIn(lines).slice(0, 2), judged)).toBeUndefined();
  const [generator] = generators as [Generator];
  const place = { document: join(ROOT, 'generated/openapi.json'), folder: join(folder, 'client'), cache: folder };
  const warning = (text: string): Generator => ({
    ...generator,
    generate: () => ({ line: ['sh', '-c', `echo "${text}" >&2`], folder: place.folder }),
    compile: async () => ({ line: ['false'], folder: place.folder }),
  });
  const check = async (text: string) => (await checkGenerator(warning(text), place, guildhall)).reason;
  expect(await check('WARN: x is odd')).toBe('generate: error: a warning that nobody has judged: WARN: x is odd');
  expect(await check('all is well')).toMatch(/^compile: /);
});

test('a client that does not work fails the check; a skipped one only where all are required', () => {
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map(
    (outcome): Result => ({ name: outcome, outcome, seconds: {} }),
  ) as [Result, Result, Result];
  expect(judgeResults([passed], true)).toEqual({
    line: 'sdk:check: 1 clients work, 0 do not, 0 skipped',
    failed: false,
  });
  expect(judgeResults([passed, failed], false).failed).toBe(true);
  expect(judgeResults([passed, skipped], false).failed).toBe(false);
  expect(judgeResults([passed, skipped], true).failed).toBe(true);
  expect(judgeResults([], false).failed).toBe(true);
});

test('README.md names every generator that is checked, and no other', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const [, table = ''] = /^\| generator \|.*\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
  expect(named).toEqual(generators.map(({ name }) => name));
});
