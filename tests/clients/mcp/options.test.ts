import { readFileSync } from 'node:fs';
import { readChoice } from '../../../clients/mcp/choice.ts';
import { OptionsEnd, readOptions, USAGE } from '../../../clients/mcp/options.ts';

const read = (...args: string[]) => readOptions(args, '1.2.3');

function end(...args: string[]): OptionsEnd {
  try {
    read(...args);
  } catch (error) {
    if (error instanceof OptionsEnd) return error;
    throw error;
  }
  throw new Error('The options were taken.');
}

test('options choose tools, a login and folders; lists may be repeated or joined by commas', () => {
  expect(
    read('--tags', 'agents,messages', '--tags', 'hub', '--read-only', '--allow-folder', '/a', '--allow-folder', '/b'),
  ).toMatchObject({ choice: { tags: ['agents', 'messages', 'hub'], readOnly: true }, folders: ['/a', '/b'] });
  expect(read('--mode', 'search', '--profile', 'work').choice).toEqual({ mode: 'search' });
  expect(read('--profile', 'work', '--base-url', 'https://a.example').login).toMatchObject({
    profile: 'work',
    baseUrl: 'https://a.example',
  });
  expect(read()).toMatchObject({ choice: {}, folders: [], agentId: undefined });
});

test('--help and --version are for stdout, wrong options for stderr', () => {
  expect([end('--help').exitCode, end('--help').message]).toEqual([0, USAGE]);
  expect([end('--version').exitCode, end('--version').message]).toEqual([0, '1.2.3\n']);
  for (const args of [['--mode', 'some'], ['--nonsense'], ['words'], ['--agent', 'x', '--read-only'], ['--tags']])
    expect([args, end(...args).exitCode]).toEqual([args, 2]);
});

test('every option is in the help, and in docs/mcp.md', () => {
  const docs = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8');
  for (const option of USAGE.match(/--[a-z-]+/g) ?? []) expect(docs).toContain(option);
});

test('the query of /mcp makes the same choices', () => {
  const choice = (query: string) => readChoice(new URLSearchParams(query));
  expect(choice('tags=agents,messages&tags=hub&read_only=true')).toEqual({
    tags: ['agents', 'messages', 'hub'],
    readOnly: true,
  });
  expect(choice('mode=search&tools=agents__list_agents')).toEqual({ mode: 'search', tools: ['agents__list_agents'] });
  expect(choice('')).toEqual({});
  expect(choice('tag=agents')).toContain('no parameter tag');
  expect(choice('read_only=1')).toContain('true or false');
  expect(choice('mode=x')).toContain('all or search');
});
