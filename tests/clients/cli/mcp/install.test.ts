import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { files, guildhall, home, json, project, useFolders, write } from './folders.ts';

useFolders();

const program = join(import.meta.dirname, '../../../../clients/mcp/main.ts');
const entry = { type: 'stdio', command: process.execPath, args: [program] };

describe('mcp install', () => {
  test('by itself it finds the clients that are there, and writes entry and guide', async () => {
    write('.claude.json', '{\n  "numStartups": 5\n}\n');
    mkdirSync(join(home, '.codex'));
    const { code, rows, stderr } = await guildhall(['mcp', 'install']);
    expect(code).toBe(0);
    expect(rows().map(({ client, result, guide }: Record<string, unknown>) => [client, result, guide])).toEqual([
      ['claude-code', 'installed', 'written'],
      ['codex', 'installed', 'written'],
    ]);
    expect(json('.claude.json')).toEqual({ numStartups: 5, mcpServers: { guildhall: entry } });
    expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toBe(
      `[mcp_servers.guildhall]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(program)}]\n`,
    );
    expect(files(home)).toEqual([
      '.agents/skills/guildhall/SKILL.md',
      '.claude.json',
      '.claude/skills/guildhall/SKILL.md',
      '.codex/config.toml',
    ]);
    expect(stderr).toContain('No login is saved for the server: run guildhall auth login.');
  });

  test('twice is the same as once', async () => {
    const env = { GUILDHALL_CONFIG_DIR: join(home, 'logins') };
    await guildhall(['mcp', 'install', 'all'], { env });
    const before = files(home).map((path) => readFileSync(join(home, path), 'utf8'));
    const { code, rows } = await guildhall(['mcp', 'install', 'all'], { env });
    expect(code).toBe(0);
    expect(rows().map(({ result }: { result: string }) => result)).toEqual(Array(5).fill('unchanged'));
    expect(files(home).map((path) => readFileSync(join(home, path), 'utf8'))).toEqual(before);
  });

  test('another entry of the name is a conflict (5); the other clients get theirs; --update replaces it and keeps what is not ours', async () => {
    const other = { command: 'node', args: ['mine.js'], timeout: 9, env: { HTTPS_PROXY: 'x' } };
    write('.claude.json', JSON.stringify({ mcpServers: { guildhall: other } }));
    const { code, stdout, stderr } = await guildhall(['mcp', 'install', 'claude-code,cursor']);
    expect([code, JSON.parse(stdout).map(({ result }: { result: string }) => result)]).toEqual([
      5,
      ['conflict', 'installed'],
    ]);
    expect(stderr).toContain(
      'Claude Code has another server with the name guildhall. --update replaces it, --name NAME keeps both.',
    );
    expect(json('.claude.json')).toEqual({ mcpServers: { guildhall: other } });
    expect(json('.cursor/mcp.json').mcpServers.guildhall).toEqual(entry);
    expect((await guildhall(['mcp', 'install', 'claude-code', '--update'])).rows()[0].result).toBe('updated');
    expect(json('.claude.json').mcpServers.guildhall).toEqual({ ...other, command: process.execPath, args: [program] });
    const asJson = await guildhall(['mcp', 'install', 'claude-code', '--tags', 'agents', '--json']);
    expect([asJson.code, asJson.rows().error.code, asJson.rows().error.details[0].result]).toEqual([
      5,
      'entry_conflict',
      'conflict',
    ]);
  });

  test('--dry-run shows the change and changes nothing', async () => {
    write('.cursor/mcp.json', '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n');
    const { code, rows } = await guildhall(['mcp', 'install', 'cursor', 'vscode', '--dry-run']);
    expect(code).toBe(0);
    const [cursor, vscode] = rows();
    expect(cursor.change).toBe(
      [
        '@@ line 3 @@',
        '-     "other": {}',
        '+     "other": {},',
        '+     "guildhall": {',
        '+       "type": "stdio",',
        `+       "command": ${JSON.stringify(process.execPath)},`,
        '+       "args": [',
        `+         ${JSON.stringify(program)}`,
        '+       ]',
        '+     }',
      ].join('\n'),
    );
    expect(vscode.change).toMatch(/^@@ line 1 @@\n\+ \{\n\+ {3}"servers": \{\n/);
    expect(files(home)).toEqual(['.cursor/mcp.json']);
    expect(readFileSync(join(home, '.cursor/mcp.json'), 'utf8')).not.toContain('guildhall');
  });

  test('what the server offers, and which login it uses, is passed on; folders become absolute', async () => {
    const flags = [
      '--tags',
      'agents,messages',
      '--read-only',
      '--mode',
      'search',
      '--allow-folder',
      'docs',
      '--profile',
      'work',
    ];
    await guildhall(['mcp', 'install', 'cursor', '--name', 'work', ...flags], {
      env: { GUILDHALL_CONFIG_DIR: 'logins' },
    });
    expect(json('.cursor/mcp.json').mcpServers.work).toEqual({
      ...entry,
      args: [
        program,
        '--tags',
        'agents,messages',
        '--read-only',
        '--mode',
        'search',
        '--allow-folder',
        join(project, 'docs'),
        '--profile',
        'work',
      ],
      env: { GUILDHALL_CONFIG_DIR: join(project, 'logins') },
    });
  });

  test('no key reaches a file, wherever it is', async () => {
    const key = 'gsk_abcdefghijklmnopqrstuvwxyz0123456789ABCD';
    const { code, stderr } = await guildhall(['mcp', 'install', 'all'], { env: { GUILDHALL_API_KEY: key } });
    expect(code).toBe(0);
    expect(stderr).toContain('GUILDHALL_API_KEY of this shell does not reach the clients.');
    const refused = await guildhall(['mcp', 'install', 'all', '--name', 'b', '--api-key', key]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('A key is not written into the files of clients.'),
    ]);
    for (const path of files(home)) expect(readFileSync(join(home, path), 'utf8')).not.toContain(key);
  });

  test('for a project: its files, readable by all, with the rules of the editors', async () => {
    const { code, rows, stderr } = await guildhall(['mcp', 'install', 'all', '--project']);
    expect(code).toBe(0);
    expect(rows().map(({ client }: { client: string }) => client)).toEqual([
      'claude-code',
      'cursor',
      'vscode',
      'codex',
    ]);
    expect(files(project)).toEqual([
      '.agents/skills/guildhall/SKILL.md',
      '.claude/skills/guildhall/SKILL.md',
      '.codex/config.toml',
      '.cursor/mcp.json',
      '.cursor/rules/guildhall.mdc',
      '.github/instructions/guildhall.instructions.md',
      '.mcp.json',
      '.vscode/mcp.json',
    ]);
    expect(files(home)).toEqual([]);
    expect(stderr).toContain('These files have paths of this machine.');
  });

  test.each([
    ['half a file', '{"mcpServers": {', 'is not valid JSON (line 1'],
    ['a comment, which Claude Code does not read', '{} // mine', 'is not valid JSON'],
    ['a list', '[]', 'does not hold a JSON object'],
    ['Latin-1', Buffer.from('{"a":"\xe9"}', 'latin1'), 'is not text in UTF-8'],
  ])('a file that cannot be parsed is left as it is: %s', async (_name, content, message) => {
    writeFileSync(join(home, '.claude.json'), content);
    const { code, stderr } = await guildhall(['mcp', 'install', 'claude-code']);
    expect([code, stderr]).toEqual([5, expect.stringContaining(message)]);
    expect(stderr).toContain('It is left as it is.');
    expect(readFileSync(join(home, '.claude.json'))).toEqual(Buffer.from(content));
    expect(files(home)).toEqual(['.claude.json']);
  });

  test('a folder that cannot be made is a sentence (1), and the other clients get theirs', async () => {
    write('.cursor', 'a file in place of the folder');
    const { code, stderr } = await guildhall(['mcp', 'install', 'cursor', 'codex']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be changed: a part of its path is a file.')]);
    expect(files(home)).toContain('.codex/config.toml');
  });

  test('a byte order mark and Windows line ends stay', async () => {
    write('.cursor/mcp.json', '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n');
    expect((await guildhall(['mcp', 'install', 'cursor'])).code).toBe(0);
    const text = readFileSync(join(home, '.cursor/mcp.json'), 'utf8');
    expect(text.startsWith('\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"guildhall": {\r\n')).toBe(true);
    expect(text).not.toMatch(/[^\r]\n/);
  });

  test.each<[string[], string]>([
    [['mcp', 'install', 'emacs'], 'There is no client "emacs".'],
    [['mcp', 'install', 'cursor', '--name', '__proto__'], 'cannot be the name of a server'],
    [['mcp', 'install', 'cursor', '--name', 'a.b'], 'cannot be the name of a server'],
    [['mcp', 'install', 'claude-desktop', '--project'], 'Claude Desktop has no files for a project.'],
    [['mcp', 'install', 'cursor', '--mode', 'few'], '--mode is all or search.'],
    [['mcp', 'install', 'cursor', '--tags', 'agnets'], 'agnets'],
    [['mcp', 'install', 'cursor', '--agent', 'x', '--read-only'], '--agent has one tool'],
  ])('%j is wrong usage (2)', async (words, message) => {
    const { code, stderr } = await guildhall(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(files(home)).toEqual([]);
  });

  test('no client, and no home folder', async () => {
    const none = await guildhall(['mcp', 'install']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('No client is found on this machine.')]);
    const homeless = await guildhall(['mcp', 'install', 'cursor'], { homeFolder: undefined });
    expect([homeless.code, homeless.stderr]).toEqual([2, expect.stringContaining('There is no home folder')]);
    expect((await guildhall(['mcp', 'install', 'cursor', '--project'], { homeFolder: undefined })).code).toBe(0);
  });

  test('two at once, of two names, are both there', async () => {
    write('.claude.json', '{"a": 1}');
    await Promise.all(
      ['one', 'two', 'three'].map((name) => guildhall(['mcp', 'install', 'claude-code', '--name', name])),
    );
    expect(Object.keys(json('.claude.json').mcpServers).sort()).toEqual(['one', 'three', 'two']);
    expect(files(home)).toEqual(['.claude.json', '.claude/skills/guildhall/SKILL.md']);
  });
});
