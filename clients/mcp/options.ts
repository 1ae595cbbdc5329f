import { parseArgs } from 'node:util';
import type { LoginChoice } from '../login/credential.ts';
import { listOf } from './choice.ts';
import type { ToolChoice } from './tools/index.ts';

/** What `guildhall-mcp` was started with. */
export interface Options {
  choice: ToolChoice;
  login: LoginChoice;
  /** Folders below which tools may read files to upload. */
  folders: string[];
  /** The agent whose server this is; absent: the server is the workspace's. */
  agentId?: string | undefined;
}

/** The options are wrong, or ask for a text only. `exitCode` 0: the message belongs on stdout. */
export class OptionsEnd extends Error {
  readonly exitCode: 0 | 2;

  constructor(exitCode: 0 | 2, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const USAGE = `Usage: guildhall-mcp [options]

An MCP server on stdin and stdout, with each operation of Guildhall's API as a tool.
It uses the login that "guildhall auth login" has saved, or GUILDHALL_API_KEY.

  --tags NAMES          only the tools of these areas, such as agents,messages
  --tools NAMES         only these tools
  --read-only           only tools that change nothing
  --mode search         three tools in place of all: search, describe and call an operation
  --agent ID            the server of one published agent, with the tool ask
  --allow-folder DIR    tools may upload files of this folder; repeat it for more
  --profile NAME        the saved login to use
  --api-key-file FILE   a file with the API key
  --base-url URL        the address of the service
  --version, --help

Exit codes: 0 stdin has ended, 2 wrong options.
`;

/** Reads the command line. Throws OptionsEnd for wrong options, `--help` and `--version`. */
export function readOptions(argv: string[], version: string): Options {
  const values = parse(argv);
  if (values.help) throw new OptionsEnd(0, USAGE);
  if (values.version) throw new OptionsEnd(0, `${version}\n`);
  const mode = values.mode;
  if (mode !== undefined && mode !== 'all' && mode !== 'search') throw wrong('--mode is all or search.');
  const tags = listOf(values.tags ?? []);
  const tools = listOf(values.tools ?? []);
  const isNarrowed = tags.length > 0 || tools.length > 0 || values['read-only'] || mode !== undefined;
  if (values.agent !== undefined && isNarrowed)
    throw wrong('--agent has one tool: leave out --tags, --tools, --read-only and --mode.');
  return {
    choice: {
      ...(tags.length > 0 ? { tags } : {}),
      ...(tools.length > 0 ? { tools } : {}),
      ...(values['read-only'] ? { readOnly: true } : {}),
      ...(mode === undefined ? {} : { mode }),
    },
    login: { profile: values.profile, apiKeyFile: values['api-key-file'], baseUrl: values['base-url'] },
    folders: values['allow-folder'] ?? [],
    agentId: values.agent,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      strict: true,
      options: {
        tags: { type: 'string', multiple: true },
        tools: { type: 'string', multiple: true },
        'read-only': { type: 'boolean' },
        mode: { type: 'string' },
        agent: { type: 'string' },
        'allow-folder': { type: 'string', multiple: true },
        profile: { type: 'string' },
        'api-key-file': { type: 'string' },
        'base-url': { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(message: string): OptionsEnd {
  return new OptionsEnd(2, `guildhall-mcp: ${message}\nguildhall-mcp --help lists the options.\n`);
}
