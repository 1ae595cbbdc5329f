import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandSession, guildhallCommand } from '../../support/clients/commandLine.ts';
import { useModelApp } from '../../support/http/modelApp.ts';

/*
 * What people do with the commands, against a service: an agent is built, published, asked and taken down.
 */
const here = useModelApp();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-live-'));
});
afterAll(async () => await rm(folder, { recursive: true }));

const env = () => ({ GUILDHALL_BASE_URL: here.app.origin, GUILDHALL_API_KEY: here.app.workspace.apiKey });
const cli = (line: string[], stdin?: string) =>
  guildhallCommand(line, { env: env(), cwd: folder, ...(stdin !== undefined && { stdin }) });
/** Runs a command that has to succeed; answers what it printed as JSON. */
async function done(...line: string[]) {
  const { exitCode, stdout, stderr } = await cli(line);
  if (exitCode !== 0) throw new Error(`${line.join(' ')}: ${exitCode} ${stderr}`);
  return stdout === '' ? undefined : JSON.parse(stdout);
}

test('an agent from its creation to its end', async () => {
  const { publicId: model } = (await done('ai-models', 'list')).find(
    ({ supportsTemperature }: { supportsTemperature: boolean }) => supportsTemperature,
  );
  const { publicId: id } = await done('agents', 'create', '--name', 'Shop', '--categories', 'a', '--categories', 'b');
  await done('agent-model', 'update', id, '--ai-model-id', model, '--temperature', '0.5');
  expect(
    await done('agents', 'update', id, '--description', 'Sells.', '--categories', '[]', '--dynamic-prompt-enabled'),
  ).toMatchObject({
    description: 'Sells.',
    categories: [],
    temperature: 0.5,
    dynamicPromptEnabled: true,
  });
  await done('agents', 'update', id, '--null', 'description', '--no-dynamic-prompt-enabled');
  expect(await done('agents', 'get', id)).toMatchObject({ description: null, dynamicPromptEnabled: false });
  await writeFile(
    join(folder, 'prompt.json'),
    JSON.stringify({ systemPrompt: 'You sell shoes.', dynamicPromptEnabled: true }),
  );
  expect(await done('agent-prompt', 'update', id, '--body', '@prompt.json', '--no-dynamic-prompt-enabled')).toEqual(
    expect.objectContaining({ systemPrompt: 'You sell shoes.', dynamicPromptEnabled: false }),
  );
  const variable = await done(
    'agent-variables',
    'create',
    id,
    '--name',
    'size',
    '--label',
    'Size',
    '--type',
    'number',
    '--default-value',
    '42',
  );
  expect(variable).toMatchObject({ defaultValue: 42 });
  await done(
    'agent-variables',
    'delete',
    id,
    variable.publicId,
    '--mode',
    'purge',
    '--confirmation',
    'DELETE',
    '--yes',
  );
  expect(await done('agent-variables', 'list', id)).toEqual([]);
  const command = await done(
    'agent-commands',
    'create',
    id,
    '--name',
    'Returns',
    '--command',
    'returns',
    '--prompt',
    'Tell how to return.',
  );
  await done('agent-commands', 'update', id, command.publicId, '--status', 'inactive');
  expect((await done('agent-commands', 'get', id, command.publicId)).status).toBe('inactive');
  const tool = await done(
    'http-tools',
    'create',
    '--name',
    'note',
    '--tool-type',
    'INTERNAL_VARIABLE',
    '--description',
    'Notes.',
    '--configuration',
    '{"name":"note","type":"string","scope":"conversation"}',
  );
  await done('agent-http-tools', 'link', id, '--http-tool-id', tool.publicId);
  expect(await done('agent-http-tools', 'update', id, tool.publicId, '--requires-approval')).toMatchObject({
    requiresApproval: true,
  });
  await done('agent-http-tools', 'unlink', id, tool.publicId, '-y');
  await done('http-tools', 'delete', tool.publicId, '-y');
  await writeFile(join(folder, 'returns.md'), 'Goods can be returned within 30 days.');
  const source = await done('knowledge', 'create', '--file', 'returns.md', '--name', 'Returns');
  expect(source).toMatchObject({ name: 'Returns', sourceType: 'FILE_UPLOAD' });
  const text = await done('knowledge', 'create', '--name', 'Hours', '--text-content', 'From 9 to 5.');
  expect(text.sourceType).toBe('TEXT_INPUT');
  await done('agent-knowledge', 'link', id, '--knowledge-source-id', source.publicId);
  expect((await done('agent-knowledge', 'list', id)).length).toBe(1);

  expect(await done('agents', 'publish', id, '--notes', 'First.')).toMatchObject({ publishedVersionNumber: 1 });
  expect(await done('agent-versions', 'get', id, '1')).toMatchObject({ versionNumber: 1, notes: 'First.' });
  await done('agent-versions', 'restore', id, '1');
  const sent = await done('messages', 'send', id, '--content', 'Hi', '--metadata', '{}');
  expect(sent.messages[0].role).toBe('assistant');
  const streamed = await cli(
    ['messages', 'stream', id, '--body', '-', '--conversation-id', sent.conversationId],
    '{"content":"And?"}',
  );
  const events = streamed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event);
  expect({ exitCode: streamed.exitCode, first: events[0], last: events.at(-1) }).toEqual({
    exitCode: 0,
    first: 'conversation-id',
    last: 'debug-info',
  });
  const messages = await cli(['conversations', 'list-messages', sent.conversationId, '--all']);
  expect(messages.stdout.trim().split('\n').length).toBe(4);
  await done('conversations', 'delete', sent.conversationId, '--yes');
  expect((await cli(['conversations', 'get', sent.conversationId])).exitCode).toBe(3);
  expect((await cli(['agents', 'create', '--name', 'Shop'])).exitCode).toBe(5);
  await done('agents', 'delete', id, '--yes');
  expect((await cli(['agents', 'get', id])).exitCode).toBe(3);
});

test('the hub: links, packages and plans', async () => {
  const link = await done('hub-external-links', 'create', '--title', 'Help', '--url', 'https://example.com');
  expect(await done('hub-external-links', 'update', link.publicId, '--title', 'Docs')).toMatchObject({ title: 'Docs' });
  await done('hub-external-links', 'delete', link.publicId, '--yes');
  const package_ = await done(
    'billing',
    'create-credit-package',
    '--name',
    'Small',
    '--credits-amount',
    '100',
    '--credit-value-cents',
    '2',
  );
  expect(await done('billing', 'get-credit-package', package_.publicId)).toMatchObject({
    renewalIntervalMonths: null,
    creditsAmount: 100,
  });
  expect((await done('billing', 'list-credit-packages', '--limit', '1')).items).toHaveLength(1);
  expect(await done('hub', 'update-identity', '--name', 'Acme hub', '--primary-color', '#112233')).toMatchObject({
    name: 'Acme hub',
  });
  expect(await done('hub-domain', 'check-subdomain-availability', '--subdomain', 'free-name')).toMatchObject({
    available: true,
  });
});

describe('what deletes asks first', () => {
  test('without a terminal it needs --yes, and nothing is deleted', async () => {
    const { publicId } = await done('agents', 'create', '--name', 'Kept');
    const { exitCode, stdout } = await cli(['agents', 'delete', publicId, '--json']);
    expect({ exitCode, error: JSON.parse(stdout).error }).toMatchObject({
      exitCode: 2,
      error: { code: 'no_tty', hint: 'Pass --yes.' },
    });
    expect(await done('agents', 'get', publicId)).toMatchObject({ name: 'Kept' });
  });

  test('on a terminal only a yes deletes', async () => {
    const { publicId } = await done('agents', 'create', '--name', 'Asked');
    for (const [answer, exitCode] of [
      ['n', 1],
      ['', 1],
      ['yes', 0],
    ] as const) {
      const session = new CommandSession(['agents', 'delete', publicId], { env: env(), columns: 100 });
      await session.shows('[y/N]');
      session.type(`${answer}\r\n`);
      expect(await session.ended).toMatchObject({ exitCode });
    }
    expect((await cli(['agents', 'get', publicId])).exitCode).toBe(3);
  });
});

test('on a terminal data is a table, and JSON with --json', async () => {
  await done('agents', 'create', '--name', 'Shown');
  const table = await guildhallCommand(['agents', 'list', '--search', 'Shown'], { env: env(), columns: 150 });
  expect(table.stdout).toContain('Shown');
  expect(() => JSON.parse(table.stdout)).toThrow();
  const asked = await guildhallCommand(['agents', 'list', '--search', 'Shown', '--json'], { env: env(), columns: 150 });
  expect(JSON.parse(asked.stdout).items).toHaveLength(1);
});
