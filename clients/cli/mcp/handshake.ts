import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a server that starts tells of itself. */
export interface Handshake {
  name: string;
  version: string;
  tools: number;
}

/** Why a server did not answer, as a sentence. */
export class HandshakeFault extends Error {}

const MAX_STDERR_CHARACTERS = 4_000;
const PROTOCOL_VERSION = '2025-11-25';

/**
 * Starts the server as a client does and asks it for its tools: `initialize`, `notifications/initialized`, `tools/list`, as lines of
 * JSON-RPC (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio). The process has ended when this returns.
 * @throws HandshakeFault
 */
export async function shakeHands(
  server: { command: string; args: string[]; env: Record<string, string> },
  { env, deadlineMs }: { env: Record<string, string | undefined>; deadlineMs: number },
): Promise<Handshake> {
  const child = started(server, { ...env, ...server.env });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_STDERR_CHARACTERS);
  });
  child.stdin.on('error', () => undefined); // the end of the process tells more
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new HandshakeFault(`cannot be started: ${error.code}`)),
    );
    child.once('close', (code, signal) =>
      reject(new HandshakeFault(`ended with ${signal ?? `exit code ${code}`}${lastLine(said)}`)),
    );
  });
  ended.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new HandshakeFault(`did not answer within ${deadlineMs / 1000} seconds${lastLine(said)}`)),
      deadlineMs,
    );
  });
  try {
    return await Promise.race([talk(child), ended, late]);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    child.stdin.destroy();
  }
}

function started({ command, args }: { command: string; args: string[] }, env: NodeJS.ProcessEnv) {
  try {
    return spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
  } catch (error) {
    throw new HandshakeFault(`cannot be started: ${(error as Error).message}`); // such as a zero byte in an argument
  }
}

type Child = { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream };
type Reply = { id?: unknown; result?: Record<string, unknown>; error?: { message?: unknown } };

async function talk(child: Child): Promise<Handshake> {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let lastId = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
    lastId += 1;
    send({ id: lastId, method, params });
    for (;;) {
      const line = await lines.next();
      if (line.done) return new Promise(() => undefined); // the end of the process tells more
      const reply = parsed(line.value);
      if (reply.id !== lastId) continue; // a notification, or a request to us
      if (!reply.result) throw new HandshakeFault(`refused ${method}: ${String(reply.error?.message)}`);
      return reply.result;
    }
  };
  const clientInfo = { name: 'guildhall-mcp-status', version: '1' };
  const hello = await ask('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  let tools = 0;
  for (let cursor: unknown; ; ) {
    const page = await ask('tools/list', cursor === undefined ? {} : { cursor });
    tools += Array.isArray(page.tools) ? page.tools.length : 0;
    cursor = page.nextCursor;
    if (typeof cursor !== 'string') break;
  }
  const { name, version } = (hello.serverInfo ?? {}) as { name?: string; version?: string };
  return { name: name ?? '', version: version ?? '', tools };
}

function parsed(line: string): Reply {
  try {
    const value = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // handled below
  }
  throw new HandshakeFault(`writes something to stdout that is no message: ${JSON.stringify(line.slice(0, 80))}`);
}

/** What it told people: the last line about an error, or the last line. */
function lastLine(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const line = lines.findLast((each) => /error/i.test(each)) ?? lines.at(-1);
  return line ? `: ${line.slice(0, 300)}` : '';
}
