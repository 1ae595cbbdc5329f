import type { ConfigFormat } from './edit/format.ts';
import { jsonFormat } from './edit/json.ts';
import { tomlFormat } from './edit/toml.ts';
import { atAppData, atHome, atVariable, isThere, joinPath, namesIn, type Places } from './places.ts';

export const TARGET_IDS = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex'] as const;

export type TargetId = (typeof TARGET_IDS)[number];

/** For the user in all projects, or for everybody in the project of the current folder. */
export type Scope = 'user' | 'project';

/** Where an agent finds the guide, and in which dress. */
export interface GuidePlace {
  path: string;
  kind: 'skill' | 'cursor-rule' | 'vscode-instructions';
}

/** A program that can start the MCP server: where it keeps its list of servers, and in which form. */
export interface Target {
  id: TargetId;
  title: string;
  /** The file with the servers; undefined when this client has none for the scope, or when there is no home folder. */
  file(places: Places, scope: Scope): string | undefined;
  /** Whether the client was ever used by this user on this machine. */
  present(places: Places): boolean;
  /** Undefined where the client reads no such file. */
  guide(places: Places, scope: Scope): GuidePlace | undefined;
  scopes: readonly Scope[];
  format: ConfigFormat;
  section: 'mcpServers' | 'servers' | 'mcp_servers';
  /** Whether an entry says `"type": "stdio"`. */
  withType: boolean;
  /** What makes the client read the new entry. */
  next: string;
}

const EVERYWHERE: readonly Scope[] = ['user', 'project'];

/**
 * Claude Code. User scope: the top level of ~/.claude.json; project scope: .mcp.json, shared with the team (https://code.claude.com/docs/en/mcp).
 * With CLAUDE_CONFIG_DIR the file is $CLAUDE_CONFIG_DIR/.claude.json (https://github.com/anthropics/claude-code/issues/48448).
 * Skills: ~/.claude/skills and .claude/skills (https://code.claude.com/docs/en/skills). It reads the file with JSON.parse, so comments break it.
 */
const CLAUDE_CODE: Target = {
  id: 'claude-code',
  title: 'Claude Code',
  file: (places, scope) =>
    scope === 'project'
      ? joinPath(places, places.cwd, '.mcp.json')
      : atVariable(places, 'CLAUDE_CONFIG_DIR', [], '.claude.json'),
  present: (places) =>
    isThere(atVariable(places, 'CLAUDE_CONFIG_DIR', [], '.claude.json')) ||
    isThere(atVariable(places, 'CLAUDE_CONFIG_DIR', ['.claude'])),
  guide: (places, scope) =>
    skill(scope === 'project' ? joinPath(places, places.cwd, '.claude') : claudeFolder(places), places),
  scopes: EVERYWHERE,
  format: jsonFormat({ comments: false }),
  section: 'mcpServers',
  withType: true,
  next: 'Start a new session of Claude Code.',
};

/**
 * Claude Desktop: claude_desktop_config.json in its folder of settings (https://modelcontextprotocol.io/docs/develop/connect-local-servers). On
 * Windows the packaged app (MSIX) reads a redirected copy of that folder, and never the other one
 * (https://github.com/hannesill/m4/pull/54, https://github.com/taiste/harvest-mcp-server/pull/12). It has no file for a project and no skills folder.
 */
const CLAUDE_DESKTOP: Target = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  file: (places, scope) => {
    const folder = scope === 'user' ? claudeDesktopFolder(places) : undefined;
    return folder && joinPath(places, folder, 'claude_desktop_config.json');
  },
  present: (places) => isThere(claudeDesktopFolder(places)),
  guide: () => undefined,
  scopes: ['user'],
  format: jsonFormat({ comments: false }),
  section: 'mcpServers',
  withType: false,
  next: 'Quit Claude Desktop and start it again.',
};

/**
 * Cursor: ~/.cursor/mcp.json and .cursor/mcp.json (https://cursor.com/docs/context/mcp). Skills: ~/.agents/skills and ~/.cursor/skills
 * (https://cursor.com/docs/skills.md); rules are files in a project only: .cursor/rules/*.mdc (https://cursor.com/docs/context/rules).
 */
const CURSOR: Target = {
  id: 'cursor',
  title: 'Cursor',
  file: (places, scope) =>
    scope === 'project' ? joinPath(places, places.cwd, '.cursor', 'mcp.json') : atHome(places, '.cursor', 'mcp.json'),
  present: (places) => isThere(atHome(places, '.cursor')),
  guide: (places, scope) =>
    scope === 'project'
      ? { path: joinPath(places, places.cwd, '.cursor', 'rules', 'guildhall.mdc'), kind: 'cursor-rule' }
      : skill(atHome(places, '.agents'), places),
  scopes: EVERYWHERE,
  format: jsonFormat({ comments: true }),
  section: 'mcpServers',
  withType: true,
  next: 'Cursor starts it by itself; its settings show it under MCP.',
};

/**
 * VS Code: mcp.json in the folder of the user's default profile and .vscode/mcp.json, with `servers` and comments
 * (https://code.visualstudio.com/docs/agents/reference/mcp-configuration). The user's folder:
 * https://code.visualstudio.com/docs/configure/settings#_settings-file-locations. Skills: ~/.agents/skills, ~/.copilot/skills
 * (https://docs.github.com/en/copilot/concepts/agents/about-agent-skills); instructions of a project: .github/instructions/*.instructions.md
 * (https://code.visualstudio.com/docs/agent-customization/custom-instructions).
 */
const VSCODE: Target = {
  id: 'vscode',
  title: 'VS Code',
  file: (places, scope) => {
    if (scope === 'project') return joinPath(places, places.cwd, '.vscode', 'mcp.json');
    const folder = vscodeFolder(places);
    return folder && joinPath(places, folder, 'mcp.json');
  },
  present: (places) => isThere(vscodeFolder(places)),
  guide: (places, scope) =>
    scope === 'project'
      ? {
          path: joinPath(places, places.cwd, '.github', 'instructions', 'guildhall.instructions.md'),
          kind: 'vscode-instructions',
        }
      : skill(atHome(places, '.agents'), places),
  scopes: EVERYWHERE,
  format: jsonFormat({ comments: true }),
  section: 'servers',
  withType: true,
  next: 'Start it in VS Code with the command "MCP: List Servers".',
};

/**
 * Codex (command line, editor extension and desktop app share it): ~/.codex/config.toml or $CODEX_HOME/config.toml, and .codex/config.toml
 * of a project that Codex trusts (https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/config-reference). Skills:
 * ~/.agents/skills and .agents/skills (https://developers.openai.com/codex/skills.md).
 */
const CODEX: Target = {
  id: 'codex',
  title: 'Codex',
  file: (places, scope) =>
    scope === 'project'
      ? joinPath(places, places.cwd, '.codex', 'config.toml')
      : atVariable(places, 'CODEX_HOME', ['.codex'], 'config.toml'),
  present: (places) => isThere(atVariable(places, 'CODEX_HOME', ['.codex'])),
  guide: (places, scope) =>
    skill(scope === 'project' ? joinPath(places, places.cwd, '.agents') : atHome(places, '.agents'), places),
  scopes: EVERYWHERE,
  format: tomlFormat,
  section: 'mcp_servers',
  withType: false,
  next: 'Start a new session of Codex.',
};

/** The clients that `guildhall mcp` knows, in the order in which it lists them. */
export const TARGETS: readonly Target[] = [CLAUDE_CODE, CLAUDE_DESKTOP, CURSOR, VSCODE, CODEX];

function skill(folder: string | undefined, places: Places): GuidePlace | undefined {
  return folder ? { path: joinPath(places, folder, 'skills', 'guildhall', 'SKILL.md'), kind: 'skill' } : undefined;
}

function claudeFolder(places: Places): string | undefined {
  return atVariable(places, 'CLAUDE_CONFIG_DIR', ['.claude']);
}

function claudeDesktopFolder(places: Places): string | undefined {
  if (places.platform === 'win32') {
    const packages = atVariable(places, 'LOCALAPPDATA', ['AppData', 'Local'], 'Packages');
    const folders = namesIn(packages, 'Claude_').map((name) =>
      joinPath(places, packages ?? '', name, 'LocalCache', 'Roaming', 'Claude'),
    );
    const packaged = folders.find(isThere);
    if (packaged) return packaged;
  }
  return atAppData(places, 'Claude');
}

/** The stable edition's folder, or that of the Insiders edition when only that was ever used. */
function vscodeFolder(places: Places): string | undefined {
  const stable = atAppData(places, 'Code', 'User');
  const insiders = atAppData(places, 'Code - Insiders', 'User');
  return !isThere(stable) && isThere(insiders) ? insiders : stable;
}
