import type { Command } from 'commander';
import type { Context } from './context.ts';

/**
 * Fills in a command: its arguments, options, help and action. The command has its name and summary already. `context` makes the context of
 * this call; ask for it within the action, when the flags are parsed.
 *
 *     export const register: Register = (command, context) => {
 *       command
 *         .argument('<agent-id>', 'the agent')
 *         .option('--once', 'send one message and end')
 *         .addHelpText('after', examples(['guildhall agents chat 0193…']))
 *         .action(async (agentId: string, options: { once?: boolean }) => {
 *           const { api, print } = context();
 *           await print(await (await api()).call('getAgent', { path: { agentPublicId: agentId } }));
 *         });
 *     };
 */
export type Register = (
  command: Command,
  context: () => Context,
  /** The program with the arguments and options of the command that these words name. */
  programFor: (argv: string[]) => Promise<Command>,
) => void;

/**
 * A command that is written by hand. To add one: write a module with `export const register: Register`, and one row here. The module is
 * loaded when the command is called, so put its imports in it and not here. A row with the words of a generated command replaces it.
 */
export interface CommandRow {
  /** One to three words, such as `['agents', 'chat']`. The first may be a group of generated commands. */
  words: [string, ...string[]];
  /** What it does, for the lists of commands: a verb in the imperative, no full stop. */
  summary: string;
  /** Heading in the root's help, for a first word that has no generated group. */
  heading?: string;
  load(): Promise<{ register: Register }>;
}

/** What the words of a group without generated commands stand for. */
export const groupSummaries: Record<string, string> = {
  auth: 'Log in, log out, and see who you are',
  mcp: 'Set up the MCP server in Claude, Cursor, VS Code and Codex',
};

export const commandRows: CommandRow[] = [
  {
    words: ['auth', 'login'],
    summary: 'Check an API key and save it',
    heading: 'Start',
    load: async () => await import('./auth/login.ts'),
  },
  {
    words: ['auth', 'whoami'],
    summary: 'Tell workspace, key and address, and where they came from',
    heading: 'Start',
    load: async () => await import('./auth/whoami.ts'),
  },
  {
    words: ['auth', 'logout'],
    summary: 'Remove a saved login',
    heading: 'Start',
    load: async () => await import('./auth/logout.ts'),
  },
  {
    words: ['api'],
    summary: 'Make any request to the API',
    heading: 'Start',
    load: async () => await import('./api/register.ts'),
  },
  {
    words: ['mcp', 'install'],
    summary: 'Set up the MCP server and the guide in clients',
    heading: 'Start',
    load: async () => await import('./mcp/install.ts'),
  },
  {
    words: ['mcp', 'uninstall'],
    summary: 'Remove the MCP server and the guide from clients',
    heading: 'Start',
    load: async () => await import('./mcp/uninstall.ts'),
  },
  {
    words: ['mcp', 'list'],
    summary: 'List the clients, their files, and what is in them',
    heading: 'Start',
    load: async () => await import('./mcp/list.ts'),
  },
  {
    words: ['mcp', 'status'],
    summary: 'Find what keeps the MCP server from working',
    heading: 'Start',
    load: async () => await import('./mcp/status.ts'),
  },
  {
    words: ['pull'],
    summary: 'Write the workspace as files',
    heading: 'Agents as code',
    load: async () => await import('./code/pull.ts'),
  },
  {
    words: ['plan'],
    summary: 'Show what apply would change',
    heading: 'Agents as code',
    load: async () => await import('./code/plan.ts'),
  },
  {
    words: ['apply'],
    summary: 'Bring the workspace to what the files say',
    heading: 'Agents as code',
    load: async () => await import('./code/apply.ts'),
  },
  {
    words: ['open'],
    summary: 'Open the API reference in the browser',
    heading: 'Start',
    load: async () => await import('./open/register.ts'),
  },
  {
    words: ['completion'],
    summary: 'Print the completion script of a shell',
    heading: 'Start',
    load: async () => await import('./terminal/completion/register.ts'),
  },
  {
    words: ['agents', 'chat'],
    summary: 'Talk with an agent, or send it one message',
    load: async () => await import('./chat/register.ts'),
  },
  {
    words: ['knowledge', 'upload'],
    summary: 'Upload files as knowledge sources',
    load: async () => await import('./upload/knowledge.ts'),
  },
  {
    words: ['skills', 'upload'],
    summary: 'Upload a skill: a folder, an archive or a SKILL.md',
    load: async () => await import('./upload/skill.ts'),
  },
  {
    words: ['hub', 'upload-logo'],
    summary: 'Upload a logo of the hub',
    load: async () => await import('./upload/logo.ts'),
  },
];
