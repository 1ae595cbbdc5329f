import { ThreadStopped } from '../../core/thread.ts';
import { PoolBusy } from '../../core/threadPool.ts';
import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import { SANDBOX_LIMITS, type SandboxResult } from '../sandbox/limits.ts';
import { sandbox } from '../sandbox/pool.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { Capability } from './capability.ts';
import { errorOutput, textOutput } from './output.ts';
import { ownTool } from './ownTool.ts';

const SECONDS = SANDBOX_LIMITS.timeMs / 1000;
const MEGABYTES = SANDBOX_LIMITS.memoryBytes / 1024 / 1024;

const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    code: {
      type: 'string',
      minLength: 1,
      description:
        'A script. The value of its last expression is the result (no `return`); a promise is awaited, and `await` works at the top. `console.log` is shown too.',
    },
  },
  required: ['code'],
  additionalProperties: false,
};

/** Runs JavaScript that the model writes. */
export const sandboxCapability = {
  name: 'sandbox',
  isActive: ({ snapshot }) => snapshot.sandboxEnabled,
  section: () =>
    [
      '# Sandbox',
      'Use `run_javascript` for what is better calculated than guessed: arithmetic, dates, counting, sorting, text and data that must be exact. Put the data into the code: it reaches nothing outside, and nothing is kept from one call to the next. When it fails, mend the code by the error and run it again.',
    ].join('\n\n'),
  tools: (scope) => [javascriptTool(scope)],
} satisfies Capability;

function javascriptTool(scope: AgentScope): AgentTool {
  return ownTool({
    name: 'run_javascript',
    description: `Runs JavaScript (ECMAScript 2023) in a sandbox and answers with its result. There is no network, no file, no module, no DOM, nothing of Node.js, and no Intl. At most ${SECONDS} s and ${MEGABYTES} MiB; timers do not wait.`,
    inputSchema: SCHEMA,
    async run({ code }, { signal }) {
      if (typeof code !== 'string' || code.trim() === '') return errorOutput('There is no code to run.');
      const bytes = Buffer.byteLength(code);
      if (bytes > SANDBOX_LIMITS.codeBytes)
        return errorOutput(`The code has ${bytes} bytes: at most ${SANDBOX_LIMITS.codeBytes}.`);
      try {
        return outputOf(await sandbox.run(scope.workspaceId, code, signal));
      } catch (error) {
        if (error instanceof PoolBusy) return errorOutput(`The sandbox is busy: ${error.message}`);
        if (error instanceof ThreadStopped) return stoppedOutput(error, scope);
        throw error;
      }
    },
  });
}

/** The output when the thread was ended from outside: what the code had logged is lost with it. */
function stoppedOutput(error: ThreadStopped, { logger }: AgentScope): ToolOutput {
  if (error.reason === 'late') return errorOutput(`The code ran longer than ${SECONDS} s and was stopped.`);
  if (error.reason === 'memory') return errorOutput('The code took too much memory and was stopped.');
  logger?.warn({ err: error }, 'the sandbox ended by itself');
  return errorOutput('The sandbox ended before the code did. It may work when it is run again.');
}

function outputOf({ logs, result, error }: SandboxResult): ToolOutput {
  const logged = logs.length > 0 ? `Logged:\n${logs.join('\n')}\n\n` : '';
  if (error !== undefined) return errorOutput(`${logged}${error}`);
  const nothing =
    result === 'undefined' && logs.length === 0 ? ' (the code ends with no expression and logs nothing)' : '';
  return textOutput(`${logged}Result: ${result}${nothing}`);
}
