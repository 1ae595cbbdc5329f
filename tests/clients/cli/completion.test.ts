import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { completionScripts } from '../../../clients/cli/terminal/completion/scripts.ts';
import { guildhallCommand } from '../../support/clients/commandLine.ts';
import { hasTerminals, RealTerminal } from '../acceptance/realTerminal.ts';

const MAIN = join(import.meta.dirname, '../../../clients/cli/main.ts');
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'guildhall-completion-'));
  await mkdir(join(home, 'bin'));
  const command = join(home, 'bin/guildhall');
  await writeFile(
    command,
    `#!/bin/sh\nexec "${process.execPath}" --disable-warning=ExperimentalWarning "${MAIN}" "$@"\n`,
  );
  await chmod(command, 0o755);
  const login = { apiKey: 'gsk_x', baseUrl: 'http://127.0.0.1:1', workspacePublicId: 'w', apiKeyPublicId: 'k' };
  const config = { version: 1, profiles: { default: login, staging: login } };
  await writeFile(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  await writeFile(join(home, 'notes of mine.md'), 'x');
  for (const [shell, script] of Object.entries(completionScripts))
    await writeFile(join(home, `guildhall.${shell}`), script);
  env = {
    PATH: [join(home, 'bin'), process.env.PATH ?? ''].join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: home,
    GUILDHALL_CONFIG_DIR: home,
    LANG: 'C.UTF-8',
    TERM: 'xterm',
  };
});
afterAll(() => rm(home, { recursive: true, force: true }));

const complete = async (...words: string[]) => {
  const ran = await guildhallCommand(['completion', '--complete', '--', ...words], {
    env: { GUILDHALL_CONFIG_DIR: home },
    cwd: home,
  });
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  return ran.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0]);
};

describe('what can stand at the cursor', () => {
  test.each([
    ['a group', ['age'], ['agents', 'agent-versions']],
    ['a command of a group, of the document and by hand', ['agents', ''], ['list', 'create', 'publish', 'chat']],
    ['a flag', ['agents', 'list', '--st'], ['--status']],
    ['a flag that every command has', ['agents', 'list', '--prof'], ['--profile']],
    [
      'a value of a list of the document',
      ['agents', 'list', '--status', ''],
      ['draft', 'active', 'inactive', 'archived'],
    ],
    ['a value behind =', ['agents', 'list', '--status=a'], ['--status=active', '--status=archived']],
    ['a value behind =, as bash cuts it', ['agents', 'list', '--status', '=', 'a'], ['active', 'archived']],
    ['a value of a command by hand', ['hub', 'upload-logo', '--type', 'ba'], ['banner']],
    ['a saved login', ['--profile', ''], ['default', 'staging']],
    ['a command behind flags of the program', ['--profile', 'staging', 'agents', 'publ'], ['publish']],
    ['a file', ['skills', 'upload', ''], [':files']],
    ['another file', ['knowledge', 'upload', 'a.md', 'b'], [':files']],
    ['a file behind a flag', ['agents', 'chat', 'x', '--file', ''], [':files']],
    ['a shell', ['completion', ''], ['bash', 'zsh', 'fish']],
  ])('%s', async (_, words, expected) => {
    expect(await complete(...words)).toEqual(expect.arrayContaining(expected));
  });

  test.each([
    ['an unknown command', ['nothing', '']],
    ['a value that is free', ['agents', 'create', '--name', '']],
    ['an unknown flag with a value', ['agents', 'list', '--nothing=']],
    ['an id', ['agents', 'get', '']],
  ])('nothing for %s', async (_, words) => expect(await complete(...words)).toEqual([]));

  test('a flag that was used does not come again, unless it may be repeated', async () => {
    expect(await complete('agents', 'list', '--page', '2', '--pa')).toEqual([]);
    expect(await complete('agents', 'chat', 'x', '--file', 'a', '--fil')).toEqual(['--file']);
  });
});

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const described = (shell: string) => (has(shell) ? describe : describe.skip);

described('bash')('bash', () => {
  const bash = (...words: string[]) => {
    const script = `source ./guildhall.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guildhall guildhall; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
    // Outside of a completion bash has no options of one to change.
    expect(stderr.replace(/.*compopt: not currently executing completion function\n/, '')).toBe('');
    return stdout.split('\n').filter(Boolean);
  };

  test('completes commands and values', () => {
    expect(bash('guildhall', 'agents', 'publ')).toEqual(['publish']);
    expect(bash('guildhall', 'agents', 'list', '--status', 'dr')).toEqual(['draft']);
  });

  (hasTerminals ? test : test.skip)('at the tab key, names of files too', async () => {
    const terminal = new RealTerminal('bash --norc -i', { ...env, PS1: 'ready> ' }, home);
    try {
      await terminal.shows('ready> ');
      terminal.type('source <(guildhall completion bash)\r');
      await terminal.shows('ready> ');
      terminal.type('guildhall agents publ\t');
      await terminal.shows('guildhall agents publish ');
      terminal.type('\u0003');
      await terminal.shows('ready> ');
      terminal.type('guildhall skills upload not\t');
      await terminal.shows('notes\\ of\\ mine.md');
    } finally {
      terminal.kill();
    }
  });
});

described('fish')('fish (skipped where it is not installed)', () => {
  test('completes commands with their descriptions, values, logins and files', () => {
    const fish = (line: string) => {
      const { stdout, stderr } = spawnSync(
        'fish',
        ['--no-config', '-c', `source ./guildhall.fish; complete -C ${JSON.stringify(line)}`],
        { cwd: home, env, encoding: 'utf8' },
      );
      expect(stderr).toBe('');
      return stdout.split('\n').filter(Boolean);
    };
    expect(fish('guildhall agents publ')).toEqual(['publish\tPublish an agent']);
    expect(fish('guildhall agents list --status=ar')).toEqual(['--status=archived\t'].map((each) => each.trimEnd()));
    expect(fish('guildhall --profile sta')).toEqual(['staging']);
    expect(fish('guildhall skills upload not').join()).toContain('mine.md');
  });
});

described('zsh')('zsh (skipped where it is not installed)', () => {
  (hasTerminals ? test : test.skip)('completes at the tab key', async () => {
    const terminal = new RealTerminal('zsh -f -i', { ...env, PS1: 'ready> ' }, home);
    try {
      await terminal.shows('ready> ');
      terminal.type('autoload -Uz compinit && compinit -D -u && source <(guildhall completion zsh)\r');
      await terminal.shows('ready> ');
      terminal.type('guildhall agents publ\t');
      await terminal.shows('guildhall agents publish ');
      terminal.type('\u0003');
      await terminal.shows('ready> ');
      terminal.type('guildhall --profile sta\t');
      await terminal.shows('--profile staging');
    } finally {
      terminal.kill();
    }
  });
});

test('a shell without a script is refused', async () => {
  for (const argv of [['completion'], ['completion', 'tcsh'], ['completion', 'bash', 'zsh']])
    expect(await guildhallCommand(argv)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('bash, zsh, fish'),
    });
});
