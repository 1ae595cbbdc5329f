import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Places } from '../../../../clients/cli/mcp/places.ts';
import { type Scope, TARGETS } from '../../../../clients/cli/mcp/targets.ts';

function paths(places: Partial<Places>, scope: Scope = 'user'): (string | undefined)[] {
  return TARGETS.map((target) =>
    target.file({ homeFolder: undefined, env: {}, platform: 'linux', cwd: '/project', ...places }, scope),
  );
}

describe('the files of the clients', () => {
  test('macOS', () => {
    expect(paths({ homeFolder: '/Users/ann', platform: 'darwin' })).toEqual([
      '/Users/ann/.claude.json',
      '/Users/ann/Library/Application Support/Claude/claude_desktop_config.json',
      '/Users/ann/.cursor/mcp.json',
      '/Users/ann/Library/Application Support/Code/User/mcp.json',
      '/Users/ann/.codex/config.toml',
    ]);
  });

  test('Windows', () => {
    const env = { APPDATA: 'D:\\Roaming\\ann', LOCALAPPDATA: 'D:\\Local\\ann' };
    expect(paths({ homeFolder: 'C:\\Users\\ann', platform: 'win32', env })).toEqual([
      'C:\\Users\\ann\\.claude.json',
      'D:\\Roaming\\ann\\Claude\\claude_desktop_config.json',
      'C:\\Users\\ann\\.cursor\\mcp.json',
      'D:\\Roaming\\ann\\Code\\User\\mcp.json',
      'C:\\Users\\ann\\.codex\\config.toml',
    ]);
    expect(paths({ homeFolder: 'C:\\Users\\ann', platform: 'win32' })[3]).toBe(
      'C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json',
    );
  });

  test('Linux, with and without folders of one’s own', () => {
    expect(paths({ homeFolder: '/home/ann' })).toEqual([
      '/home/ann/.claude.json',
      '/home/ann/.config/Claude/claude_desktop_config.json',
      '/home/ann/.cursor/mcp.json',
      '/home/ann/.config/Code/User/mcp.json',
      '/home/ann/.codex/config.toml',
    ]);
    const env = { XDG_CONFIG_HOME: '/xdg', CLAUDE_CONFIG_DIR: '/claude', CODEX_HOME: '/codex' };
    expect(paths({ homeFolder: '/home/ann', env })).toEqual([
      '/claude/.claude.json',
      '/xdg/Claude/claude_desktop_config.json',
      '/home/ann/.cursor/mcp.json',
      '/xdg/Code/User/mcp.json',
      '/codex/config.toml',
    ]);
  });

  test('a variable that is no absolute path, or empty, does not count', () => {
    const env = { XDG_CONFIG_HOME: 'xdg', CLAUDE_CONFIG_DIR: '', CODEX_HOME: './codex' };
    expect(paths({ homeFolder: '/home/ann', env })).toEqual(paths({ homeFolder: '/home/ann' }));
  });

  test('without a home folder there are none, but those that a variable names', () => {
    expect(paths({ env: { CODEX_HOME: '/codex' } })).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      '/codex/config.toml',
    ]);
  });

  test('of a project: where the client has such a file', () => {
    expect(paths({ homeFolder: '/home/ann' }, 'project')).toEqual([
      '/project/.mcp.json',
      undefined,
      '/project/.cursor/mcp.json',
      '/project/.vscode/mcp.json',
      '/project/.codex/config.toml',
    ]);
    for (const target of TARGETS) expect(target.scopes.includes('project')).toBe(target.id !== 'claude-desktop');
  });
});

describe('on this disk', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'guildhall-home-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const present = (places: Places) => TARGETS.filter((target) => target.present(places)).map(({ id }) => id);

  test('a client is present when its folder or file is there', () => {
    const places: Places = { homeFolder: home, env: {}, platform: 'linux', cwd: home };
    expect(present(places)).toEqual([]);
    writeFileSync(join(home, '.claude.json'), '{}');
    mkdirSync(join(home, '.config/Claude'), { recursive: true });
    mkdirSync(join(home, '.config/Code/User'), { recursive: true });
    expect(present(places)).toEqual(['claude-code', 'claude-desktop', 'vscode']);
    mkdirSync(join(home, '.cursor'));
    mkdirSync(join(home, '.codex'));
    expect(present(places)).toEqual(TARGETS.map(({ id }) => id));
  });

  test('the Insiders edition of VS Code counts where it is the only one', () => {
    const places: Places = { homeFolder: home, env: {}, platform: 'linux', cwd: home };
    const file = () => TARGETS[3]?.file(places, 'user');
    mkdirSync(join(home, '.config/Code - Insiders/User'), { recursive: true });
    expect(file()).toBe(join(home, '.config/Code - Insiders/User/mcp.json'));
    mkdirSync(join(home, '.config/Code/User'), { recursive: true });
    expect(file()).toBe(join(home, '.config/Code/User/mcp.json'));
  });

  test('the guides: skills for the user, rules of the editors for a project', () => {
    const places: Places = { homeFolder: '/home/ann', env: {}, platform: 'linux', cwd: '/project' };
    const guides = (scope: Scope) => TARGETS.map((target) => target.guide(places, scope)?.path);
    const shared = '/home/ann/.agents/skills/guildhall/SKILL.md';
    expect(guides('user')).toEqual(['/home/ann/.claude/skills/guildhall/SKILL.md', undefined, shared, shared, shared]);
    expect(guides('project')).toEqual([
      '/project/.claude/skills/guildhall/SKILL.md',
      undefined,
      '/project/.cursor/rules/guildhall.mdc',
      '/project/.github/instructions/guildhall.instructions.md',
      '/project/.agents/skills/guildhall/SKILL.md',
    ]);
  });
});
