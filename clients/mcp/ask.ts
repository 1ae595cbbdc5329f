import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { components } from '../../generated/api.ts';
import type { Guildhall } from '../sdk/index.ts';
import { GuildhallError } from '../sdk/index.ts';
import { failureOf, failureResult } from './tools/failures.ts';

/** What the server of an agent says about it. */
export type AgentFacts = Pick<components['schemas']['Agent'], 'publicId' | 'name' | 'description'>;

type MessageBody = components['schemas']['MessageSend'];
type Approval = { publicId: string; toolName: string };

/** Longest that the agent may take (the API's own bound). */
const TIMEOUT_SECONDS = 300;
/** The call itself ends a little later than the agent's time, so that the service says what happened. */
const CALL_MS = (TIMEOUT_SECONDS + 20) * 1000;
/** Progress is sent no more often than this: each one repeats the text so far. */
const PROGRESS_MS = 250;
/** Of a text that is longer, progress has the end. */
const MAX_PROGRESS_LENGTH = 16_000;
const MAX_DESCRIPTION_LENGTH = 1_000;

/** The tool of an agent's server; without `agent`, before anybody could look the agent up. */
export function askTool(agent: AgentFacts | undefined): Tool {
  const name = agent?.name ?? 'the agent';
  const purpose = agent?.description?.trim();
  return {
    name: 'ask',
    title: `Ask ${name}`,
    description: `Sends a message to ${agent ? `the agent "${agent.name}"` : 'the agent'} and returns its answer.${
      purpose ? ` What it is for: ${purpose.slice(0, MAX_DESCRIPTION_LENGTH)}` : ''
    }`,
    inputSchema: {
      type: 'object',
      required: ['message'],
      additionalProperties: false,
      properties: {
        message: { type: 'string', description: 'What to say to the agent.', minLength: 1, maxLength: 32_000 },
        conversation_id: {
          type: 'string',
          format: 'uuid',
          description:
            'The conversation_id of an earlier answer, to go on with that conversation. Left out, a new one begins.',
        },
        files: {
          type: 'array',
          description: 'Images, documents or recordings for this message.',
          maxItems: 10,
          items: {
            type: 'object',
            additionalProperties: false,
            properties: {
              url: { type: 'string', description: 'Public address of the file; or base64.' },
              base64: { type: 'string', description: 'The content, at most 1 MiB decoded.' },
              filename: { type: 'string' },
              mediaType: { type: 'string', description: 'Needed to tell plain text, CSV and Markdown apart.' },
            },
          },
        },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['conversation_id', 'answer', 'pending_approvals'],
      properties: {
        conversation_id: { type: 'string', description: 'Send it with the next message.' },
        answer: { type: 'string' },
        pending_approvals: {
          type: 'array',
          description: 'Tool calls of the agent that wait until the person says approve or reject.',
          items: {
            type: 'object',
            required: ['id', 'tool'],
            properties: { id: { type: 'string' }, tool: { type: 'string' } },
          },
        },
      },
    },
    annotations: {
      title: `Ask ${name}`,
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
  };
}

/** What a call of `ask` needs beside its arguments. */
export interface AskContext {
  api: Guildhall;
  agentId: string;
  signal: AbortSignal;
  /** Gets the text so far while the agent writes; absent: nobody wants it. */
  progress?: ((text: string) => void) | undefined;
}

/** Asks the agent. Errors of the API and wrong arguments are results, which the model reads; the signal's abort is thrown. */
export async function ask(args: unknown, { api, agentId, signal, progress }: AskContext): Promise<CallToolResult> {
  const body = bodyOf(args);
  if (typeof body === 'string') return { isError: true, content: [{ type: 'text', text: body }] };
  try {
    const reply = progress
      ? await streamed(api, agentId, body, { signal, progress })
      : await whole(api, agentId, body, signal);
    return answerResult(reply);
  } catch (error) {
    if (signal.aborted) throw error;
    return failureResult(failureOf(error, 'ask', undefined));
  }
}

interface Reply {
  conversationId: string;
  answer: string;
  approvals: readonly Approval[];
}

async function whole(api: Guildhall, agentId: string, body: MessageBody, signal: AbortSignal): Promise<Reply> {
  const { conversationId, messages, pendingApprovals } = await api.call('sendMessage', {
    path: { agentPublicId: agentId },
    body: { ...body, timeoutSeconds: TIMEOUT_SECONDS },
    signal,
    timeoutMs: CALL_MS,
  });
  return { conversationId, answer: messages.map(({ content }) => content).join('\n\n'), approvals: pendingApprovals };
}

async function streamed(
  api: Guildhall,
  agentId: string,
  body: MessageBody,
  { signal, progress }: { signal: AbortSignal; progress: (text: string) => void },
): Promise<Reply> {
  let conversationId = body.conversationId ?? '';
  let answer = '';
  let told = 0;
  for await (const event of api.events({ path: { agentPublicId: agentId }, body, signal })) {
    if (event.event === 'conversation-id') ({ conversationId } = event.data);
    else if (event.event === 'text-delta') {
      answer += event.data.text;
      const now = performance.now();
      if (now - told < PROGRESS_MS) continue;
      told = now;
      progress(answer.length > MAX_PROGRESS_LENGTH ? `…${answer.slice(-MAX_PROGRESS_LENGTH)}` : answer);
    } else if (event.event === 'debug-info') {
      return { conversationId, answer, approvals: event.data.pendingApprovals };
    } else {
      throw new GuildhallError(event.data);
    }
  }
  throw new Error('The stream ended before the answer was complete.');
}

function answerResult({ conversationId, answer, approvals }: Reply): CallToolResult {
  const waiting = approvals.map(({ publicId, toolName }) => ({ id: publicId, tool: toolName }));
  return {
    content: [
      { type: 'text', text: answer },
      { type: 'text', text: `conversation_id: ${conversationId}` },
    ],
    structuredContent: { conversation_id: conversationId, answer, pending_approvals: waiting },
  };
}

const ARGUMENTS = new Set(['message', 'conversation_id', 'files']);

/** The body of the message, or a sentence that says what is wrong with the arguments. The API checks the rest. */
function bodyOf(args: unknown): MessageBody | string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'ask takes an object: {"message": "…"}.';
  const unknown = Object.keys(args).filter((name) => !ARGUMENTS.has(name));
  if (unknown.length > 0) return `ask has no argument ${unknown.join(', ')}. It takes ${[...ARGUMENTS].join(', ')}.`;
  const { message, conversation_id: conversationId, files } = args as Record<string, unknown>;
  if (typeof message !== 'string' || message === '') return 'message must be a text that is not empty.';
  if (conversationId !== undefined && conversationId !== null && typeof conversationId !== 'string')
    return 'conversation_id must be the conversation_id of an earlier answer, or be left out.';
  if (files !== undefined && files !== null && !Array.isArray(files)) return 'files must be a list.';
  return {
    content: message,
    ...(conversationId ? { conversationId } : {}),
    ...(files ? { attachments: files as NonNullable<MessageBody['attachments']> } : {}),
  };
}
