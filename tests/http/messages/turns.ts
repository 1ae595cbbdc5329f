import { randomUUID } from 'node:crypto';
import type { components } from '../../../generated/api.ts';
import { globalModelId } from '../../../runtime/models/catalogue.ts';
import { addModel, makeAgent, makeVariable, publish } from '../../support/agents/agents.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import type { TestApp } from '../../support/http/app.ts';
import type { RecordedRequest } from '../../support/servers/modelServer.ts';

type Schemas = components['schemas'];

export const GPT = globalModelId('openai', 'gpt-4.1');
export const HAIKU = globalModelId('anthropic', 'claude-haiku-4-5');
/** A model that speaks chat completions, accepts no files and costs nothing. */
export const LOCAL = globalModelId('openai-compatible', 'local-model');

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type NewVariable = Pick<Schemas['AgentVariableCreate'], 'name' | 'label' | 'type'> &
  Partial<Schemas['AgentVariableCreate']>;

/** The fields with which an agent is published. */
export type AgentSetup = Partial<Schemas['AgentUpdate']> & { variables?: NewVariable[] };

/** Makes and publishes an agent through the API, on `local-model` by default. Returns its id. */
export async function publishedAgent(
  app: TestApp,
  setup: AgentSetup = {},
  key = app.workspace.apiKey,
): Promise<string> {
  const id = await draftAgent(app, setup, key);
  await publish(app, id, undefined, key);
  return id;
}

/** As `publishedAgent`, without publishing it. */
export async function draftAgent(app: TestApp, setup: AgentSetup = {}, key = app.workspace.apiKey): Promise<string> {
  const { variables = [], ...config } = setup;
  const { publicId } = await makeAgent(app, { aiModelPublicId: LOCAL, ...config }, key);
  for (const variable of variables) await makeVariable(app, publicId, variable, key);
  return publicId;
}

export const send = (app: TestApp, agentId: string, body: object, key?: string) =>
  app.api('post', `/agents/${agentId}/messages`, key).send(body);

/** Begins a conversation with one message. Returns its id. */
export async function begun(app: TestApp, agentId: string, content = 'Hello.', key?: string): Promise<string> {
  const { body } = await send(app, agentId, { content }, key).expect(200);
  return body.conversationId;
}

export async function conversation(app: TestApp, id: string, key?: string): Promise<Schemas['Conversation']> {
  return (await app.api('get', `/conversations/${id}`, key).expect(200)).body;
}

export async function stored(app: TestApp, conversationId: string, key?: string): Promise<Schemas['Message'][]> {
  const { body } = await app.api('get', `/conversations/${conversationId}/messages?limit=100`, key).expect(200);
  return body.items;
}

/** The stored messages as `user: Hello.` */
export async function transcript(app: TestApp, conversationId: string, key?: string): Promise<string[]> {
  return (await stored(app, conversationId, key)).map(({ role, content }) => `${role}: ${content}`);
}

/** The conversations of an end user, through the API. */
export async function conversationsOf(
  app: TestApp,
  externalUserId: string,
): Promise<Schemas['ConversationListItem'][]> {
  const { body } = await app.api('get', `/conversations?externalUserId=${externalUserId}`).expect(200);
  return body.items;
}

/** The messages of a request to a provider, in any of the wire formats, as `user: Hello.`, without what the service wrote beside them. */
export function said(request: RecordedRequest | undefined): string[] {
  const body = request?.body ?? {};
  const system = typeof body.system === 'string' ? body.system : textOf(body.system);
  const list = (body.messages ?? body.input ?? []) as { role: string; content: unknown }[];
  return [
    ...(system ? [`system: ${system}`] : []),
    ...list.map(({ role, content }) => `${role}: ${textOf(content).replace(BESIDE, '')}`),
  ];
}

const BESIDE = /\n*<turn_context>\n.*\n<\/turn_context>$/s;

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}

/** Adds a custom model of the workspace on the OpenAI-compatible server. Returns its id. */
export function customModel(
  workspace: SeededWorkspace,
  options: { contextWindow?: number; image?: boolean; document?: boolean; price?: number } = {},
): Promise<string> {
  return addModel(workspace, {
    provider: 'openai-compatible',
    model_id: `own-${randomUUID()}`,
    context_window: options.contextWindow ?? 100_000,
    input_cost_per_1m_tokens: options.price ?? 0,
    output_cost_per_1m_tokens: options.price ?? 0,
    max_temperature: 2,
    supports_image: options.image ?? false,
    supports_document: options.document ?? false,
    supports_thinking: false,
  });
}
