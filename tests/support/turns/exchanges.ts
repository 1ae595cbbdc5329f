import type { components } from '../../../generated/api.ts';
import type { ModelProvider } from '../../../runtime/models/catalogue.ts';
import { GPT, HAIKU } from '../../http/messages/turns.ts';
import * as wire from '../../runtime/models/wire.ts';
import type { TestApp } from '../http/app.ts';
import type { RecordedRequest } from '../servers/modelServer.ts';
import type { ScriptedToolCall, Wire } from '../servers/modelServerWire.ts';

/* What went over the wire to a model, in the terms of the run-time, and what came back to the client. */

/** The two wire formats that each capability is shown on, with a model of each. */
export const WIRES = [
  ['OpenAI', GPT],
  ['Anthropic', HAIKU],
] as const;

/** A call as a model asks for it. */
export function toolCall(name: string, input: object = {}, id = `call_${name}`): ScriptedToolCall {
  return { id: id.slice(0, 64), name, arguments: JSON.stringify(input) };
}

const PROVIDERS: Record<Wire, ModelProvider> = {
  'openai-chat': 'openai-compatible',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
  google: 'google',
};

function read<T>(
  request: RecordedRequest | undefined,
  look: (provider: ModelProvider, body: RecordedRequest['body']) => T,
): T {
  if (!request) throw new Error('The provider got no such request.');
  return look(PROVIDERS[request.wire], request.body);
}

/** The names of the tools in a request to a model, in order. */
export function toolNames(request: RecordedRequest | undefined): string[] {
  return read(request, wire.toolsOf).map(({ name }) => name);
}

/** A tool as it is in a request to a model. Throws when the request has no such tool. */
export function toolOf(request: RecordedRequest | undefined, name: string) {
  const tool = read(request, wire.toolsOf).find((one) => one.name === name);
  if (!tool) throw new Error(`There is no ${name} among ${toolNames(request).join(', ')}.`);
  return tool;
}

/** The results of calls that a model was shown, in their order. */
export function resultsOf(request: RecordedRequest | undefined) {
  return read(request, wire.resultsOf);
}

/** The last of them. */
export function lastResult(request: RecordedRequest | undefined): { text: string; isError: boolean } {
  const { text, isError } = resultsOf(request).at(-1) ?? { text: '', isError: false };
  return { text, isError };
}

/** The system prompt that a model was sent; '' when it was sent none. */
export function systemOf(request: RecordedRequest | undefined): string {
  const { system, messages, input } = request?.body ?? {};
  const texts = (content: unknown): string =>
    typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('');
  if (system !== undefined) return texts(system);
  const [first] = (messages ?? input ?? []) as { role: string; content: unknown }[];
  return first && ['system', 'developer'].includes(first.role) ? texts(first.content) : '';
}

/** The line on the present, which stands beside every newest message; the clock of the app is that of the machine, its zone UTC. */
export const PRESENT = /Now: [A-Z][a-z]+day, \d{4}-\d\d-\d\d, \d\d:\d\d, UTC\./;

/** Matches a message of the user as the model gets it, with nothing but the present beside it. */
export const saidNow = (text: string): string => {
  const escaped = text.replace(/[{}.$?]/g, '\\$&');
  return expect.stringMatching(
    `^${escaped}\n\n<turn_context>\n${PRESENT.source}\n</turn_context>$`,
  ) as unknown as string;
};

/** What was found and remembered for the newest message of the user, as the service wrote it beside it; '' when it wrote nothing. */
export function besideOf(request: RecordedRequest | undefined): string {
  const { messages, input, contents } = request?.body ?? {};
  const users = (
    (messages ?? input ?? contents ?? []) as { role: string; content?: unknown; parts?: unknown }[]
  ).filter(({ role, content }) => role === 'user' && !isResults(content));
  const newest = users.at(-1)?.content ?? users.at(-1)?.parts ?? '';
  const texts =
    typeof newest === 'string' ? newest : (newest as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
  return /<turn_context>\n(.*)\n<\/turn_context>$/s.exec(texts)?.[1]?.replace(/^Now: .*\n*/, '') ?? '';
}

/** Anthropic's results of tools are messages of the user's role. */
const isResults = (content: unknown): boolean =>
  Array.isArray(content) && content.some(({ type }: { type?: string }) => type === 'tool_result');

/** The result of a stream. */
export interface Streamed {
  conversationId: string;
  /** All pieces of the text joined. */
  text: string;
  /** The last event. */
  debug: components['schemas']['StreamDebugInfo'];
}

/** Streams a message to an agent, to its end. */
export async function streamed(app: TestApp, agentId: string, body: object): Promise<Streamed> {
  const { text } = await app.api('post', `/agents/${agentId}/messages/stream`).send(body).expect(200);
  const events = [...text.matchAll(/event: (\S+)\ndata: (.*)\n/g)].map(
    ([, name, data]) => [name, JSON.parse(data ?? '')] as const,
  );
  const [last, debug] = events.at(-1) ?? [];
  if (last !== 'debug-info') throw new Error(text);
  return {
    conversationId: events[0]?.[1].conversationId,
    text: events.flatMap(([name, data]) => (name === 'text-delta' ? [data.text] : [])).join(''),
    debug,
  };
}

/** Switches a link of the draft off, where no operation does: versions that were made elsewhere may have such links. */
export async function switchOff({ workspace: { db } }: TestApp, agentId: string, targetId: string): Promise<void> {
  const changed = await db
    .updateTable('agent_links')
    .set({ active: false })
    .where('agent_id', '=', agentId)
    .where('target_id', '=', targetId)
    .executeTakeFirst();
  if (changed.numUpdatedRows !== 1n) throw new Error('There is no such link.');
}
