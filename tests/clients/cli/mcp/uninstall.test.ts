import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { files, guildhall, home, json, useFolders, write } from './folders.ts';

useFolders();

describe('mcp uninstall', () => {
  test('takes entries and guides away; what else is in the files stays as it was', async () => {
    const text = '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n';
    write('.claude.json', text);
    const toml = write('.codex/config.toml', '# mine\nmodel = "x"\n');
    await guildhall(['mcp', 'install']);
    const { code, rows } = await guildhall(['mcp', 'uninstall']);
    expect([code, rows().map(({ result, guide }: Record<string, unknown>) => [result, guide])]).toEqual([
      0,
      [
        ['removed', 'removed'],
        ['removed', 'removed'],
      ],
    ]);
    expect(readFileSync(join(home, '.claude.json'), 'utf8')).toBe(text);
    expect(readFileSync(toml, 'utf8')).toBe('# mine\nmodel = "x"\n');
    expect(files(home)).toEqual(['.claude.json', '.codex/config.toml']);
    expect(existsSync(join(home, '.claude/skills/guildhall'))).toBe(false);
    expect((await guildhall(['mcp', 'uninstall'])).rows().map(({ result }: { result: string }) => result)).toEqual([
      'absent',
      'absent',
    ]);
  });

  test('a guide that its user changed stays, with a word; one of an older version goes', async () => {
    await guildhall(['mcp', 'install', 'claude-code', 'codex']);
    const guide = join(home, '.claude/skills/guildhall/SKILL.md');
    writeFileSync(guide, `${readFileSync(guide, 'utf8')}Mine.\n`);
    const { code, stderr } = await guildhall(['mcp', 'uninstall', 'claude-code', 'codex']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`The guide ${guide} was changed since it was written, so it stays as it is.`),
    ]);
    expect(files(home).filter((path) => path.endsWith('SKILL.md'))).toEqual(['.claude/skills/guildhall/SKILL.md']);
  });

  test('a guide that another client reads stays until the last of them goes', async () => {
    await guildhall(['mcp', 'install', 'cursor', 'codex']);
    await guildhall(['mcp', 'uninstall', 'cursor']);
    expect(files(home)).toContain('.agents/skills/guildhall/SKILL.md');
    await guildhall(['mcp', 'uninstall', 'codex']);
    expect(files(home)).not.toContain('.agents/skills/guildhall/SKILL.md');
  });

  test('a server of that name which is not ours stays (5), unless --force', async () => {
    write('.cursor/mcp.json', '{"mcpServers":{"guildhall":{"command":"weather"}}}');
    expect((await guildhall(['mcp', 'uninstall', 'cursor'])).code).toBe(5);
    expect(json('.cursor/mcp.json').mcpServers.guildhall).toEqual({ command: 'weather' });
    expect((await guildhall(['mcp', 'uninstall', 'cursor', '--force'])).code).toBe(0);
    expect(json('.cursor/mcp.json')).toEqual({ mcpServers: {} });
  });

  test('--dry-run changes nothing, and a file that is not there is not made', async () => {
    await guildhall(['mcp', 'install', 'cursor']);
    const { rows } = await guildhall(['mcp', 'uninstall', 'cursor', 'vscode', '--dry-run']);
    expect(rows().map(({ result }: { result: string }) => result)).toEqual(['removed', 'absent']);
    expect(rows()[0].change).toContain('-     "guildhall": {');
    expect(files(home)).toEqual(['.agents/skills/guildhall/SKILL.md', '.cursor/mcp.json']);
  });
});

describe('mcp list', () => {
  test('every client with its file, and what is there', async () => {
    write('.claude.json', '{');
    write('.cursor/mcp.json', '{"mcpServers":{"guildhall":{"command":"weather"}}}');
    await guildhall(['mcp', 'install', 'codex']);
    const { code, rows } = await guildhall(['mcp', 'list']);
    expect(code).toBe(0);
    expect(
      rows().map(({ client, present, server, guide }: Record<string, unknown>) => [client, present, server, guide]),
    ).toEqual([
      ['claude-code', true, 'unreadable', 'none'],
      ['claude-desktop', false, 'none', null],
      ['cursor', true, 'another', 'current'],
      ['vscode', false, 'none', 'current'],
      ['codex', true, 'installed', 'current'],
    ]);
    expect(rows()[4].path).toBe(join(home, '.codex/config.toml'));
  });

  test('for people it is a table', async () => {
    const { stdout } = await guildhall(['mcp', 'list', '--project'], { isTerminal: true });
    expect(stdout).toMatch(/claude-code .*\.mcp\.json/);
    expect(stdout).not.toContain('{');
  });
});
