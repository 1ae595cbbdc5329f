import type { CallToolResult } from '@modelcontextprotocol/server';
import { API_PREFIX, type OperationId, operations } from '../../../generated/operations.ts';
import { agentWarningsText } from '../../sdk/agentWarnings.ts';
import type { AnyInput, Guildhall } from '../../sdk/index.ts';
import { inputOf } from './arguments.ts';
import { failureOf } from './failures.ts';
import type { FilePolicy } from './files.ts';
import { resultOf } from './results.ts';
import type { ToolRow } from './table.ts';
import { failureResult } from './toolFailure.ts';

/** What a call works with. */
export interface CallExtra {
  api: Guildhall;
  signal: AbortSignal;
  files: FilePolicy;
  /** Tells whoever waits what happens, in a sentence. */
  progress?: (message: string) => void;
}

/** How long the call of `sendMessage` waits beyond the time that the agent has, so that the service says what happened. */
const MESSAGE_EXTRA_MS = 20_000;
const MESSAGE_DEFAULT_SECONDS = 60;
/** How often a call that takes long says so. */
const PROGRESS_MS = 10_000;

/** Calls the operation of a tool. What the caller did wrong and what the service refuses is a result; only faults and abortion are thrown. */
export async function callTool(row: ToolRow, args: unknown, extra: CallExtra): Promise<CallToolResult> {
  const id = row.operationId as OperationId;
  let sent: string | undefined;
  let warnings: string | undefined;
  const ticking = startTicking(extra);
  try {
    const input = await inputOf(row, args, extra.files);
    sent = `${operations[id].method} ${pathOf(id, input)}`;
    const answer = await extra.api.call(id, {
      ...input,
      ...timeoutOf(id, input),
      signal: extra.signal,
      // The address of the answer is where the request really went: a service may be mounted below a path.
      onResponse: (response: Response) => {
        warnings = agentWarningsText(response);
        // Node 20, on which the package runs, has no URL.parse.
        const { pathname, search } = URL.canParse(response.url) ? new URL(response.url) : {};
        if (pathname !== undefined) sent = `${operations[id].method} ${pathname}${search}`;
      },
    } as AnyInput);
    const { inputSchema } = row.tool;
    const paged = Object.hasOwn(inputSchema.properties ?? {}, 'page');
    const result = resultOf(answer, { args: input.query ?? {}, paged });
    if (warnings === undefined) return result;
    return { ...result, content: [...result.content, { type: 'text', text: `Warnings: ${warnings}` }] };
  } catch (error) {
    if (extra.signal.aborted) throw error;
    return failureResult(failureOf(error, row.tool.name, sent));
  } finally {
    clearInterval(ticking);
  }
}

/** A call that takes long says so now and then: clients give up on one that is silent. */
function startTicking({ progress }: CallExtra): ReturnType<typeof setInterval> | undefined {
  if (!progress) return undefined;
  let seconds = 0;
  return setInterval(() => {
    seconds += PROGRESS_MS / 1000;
    progress(`Under way for ${seconds} seconds.`);
  }, PROGRESS_MS);
}

function timeoutOf(id: OperationId, { body }: AnyInput): { timeoutMs?: number } {
  if (id !== 'sendMessage') return {};
  const seconds = (body as { timeoutSeconds?: number } | undefined)?.timeoutSeconds ?? MESSAGE_DEFAULT_SECONDS;
  return { timeoutMs: seconds * 1000 + MESSAGE_EXTRA_MS };
}

function pathOf(id: OperationId, { path = {}, query = {} }: AnyInput): string {
  const filled = operations[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(path[name])),
  );
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  return `${API_PREFIX}${filled}${pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`}`;
}
