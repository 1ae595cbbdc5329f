import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { API_PREFIX } from '../../generated/operations.ts';
import { findCredential } from '../login/credential.ts';
import type { Surroundings } from '../login/folder.ts';
import { LoginError } from '../login/loginError.ts';
import { type Access, CredentialMissing } from './access.ts';
import { ServiceDocument } from './document.ts';
import { type Options, OptionsEnd, readOptions } from './options.ts';
import { mcpServer } from './server.ts';
import { type FilePolicy, toolSet, UnknownChoice } from './tools/index.ts';
import { VERSION } from './version.ts';

/** How long the first answer waits for what the service says of the agent. */
const LOOK_UP_MS = 3_000;
/** Longest message, as at the service's own `/mcp`. Larger files are given by their path. */
const MAX_MESSAGE_BYTES = 9 * 1024 * 1024;

/** Ends the process with the connection: nothing that is still under way can be answered any more. */
class EndingTransport extends StdioServerTransport {
  constructor() {
    super(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  }

  override async close(): Promise<void> {
    await super.close();
    process.exit(0);
  }
}

/**
 * Starts the server of the command line. Returns the exit code when there is nothing to serve: a text was asked for, or the options are
 * wrong. Undefined: it serves until its client closes stdin.
 */
export function start(argv: string[], surroundings: Surroundings): 0 | 2 | undefined {
  try {
    serveOnStdio(readOptions(argv, VERSION), surroundings);
  } catch (error) {
    if (error instanceof OptionsEnd) {
      (error.exitCode === 0 ? process.stdout : process.stderr).write(error.message);
      return error.exitCode;
    }
    if (!(error instanceof UnknownChoice)) throw error;
    process.stderr.write(`guildhall-mcp: ${error.message}\n`);
    return 2;
  }
  return undefined;
}

/** Serves one client on stdin and stdout, until it closes stdin. Throws UnknownChoice for tools or areas that do not exist. */
function serveOnStdio({ choice, login, folders, agentId }: Options, surroundings: Surroundings): void {
  const access = accessOf(login, surroundings);
  const options = {
    transport: new EndingTransport(),
    onerror: ({ message }: Error) => void process.stderr.write(`guildhall-mcp: ${message}\n`),
  };
  if (agentId !== undefined) {
    serveStdio(async () => {
      const { agentServer, findPublishedAgent } = await import('./agentServer.ts');
      // Without an answer the server begins all the same: its tool says what is wrong, where a client shows it.
      const signal = AbortSignal.timeout(LOOK_UP_MS);
      const agent = await findPublishedAgent(access, agentId, signal).catch(() => undefined);
      return agentServer({ access, agentId, agent });
    }, options);
    return;
  }
  const tools = toolSet(choice);
  const files: FilePolicy = { folders };
  const document = new ServiceDocument();
  serveStdio(() => mcpServer({ access, tools, files, document }), options);
}

/** The login is looked for with each call: who logs in while the server runs need not start it anew. */
function accessOf(login: Options['login'], surroundings: Surroundings): Access {
  async function credential() {
    try {
      return await findCredential(login, surroundings);
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      throw new CredentialMissing([error.message, error.hint].filter(Boolean).join(' '));
    }
  }
  return {
    async api() {
      const { apiKey, baseUrl } = await credential();
      // Loaded with the first call: a client that lists the tools when it starts does not wait for it.
      const { guildhall } = await import('../sdk/index.ts');
      return guildhall({ apiKey, baseUrl, userAgent: `guildhall-mcp/${VERSION}` });
    },
    async origin() {
      const { baseUrl } = await credential();
      return baseUrl.replace(/\/+$/, '').replace(new RegExp(`${API_PREFIX}$`), '');
    },
  };
}
