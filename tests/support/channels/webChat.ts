import { randomUUID } from 'node:crypto';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import { makeAgent, publish } from '../agents/agents.ts';
import type { TestApp } from '../http/app.ts';
import { Stream } from '../http/stream.ts';

/** A chat page of an agent that is published. */
export interface TestChat {
  agentId: string;
  connectionId: string;
  /** `http://…/chat/<connection>` */
  url: string;
}

/** Makes an agent with a chat page. `agent`: fields of the agent; `config`: of the connection; `key`: of another workspace. */
export async function openChat(
  app: TestApp,
  { agent = {}, config = {}, key }: { agent?: object; config?: object; key?: string } = {},
): Promise<TestChat> {
  const { publicId: agentId } = await makeAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId, ...agent }, key);
  await publish(app, agentId, undefined, key);
  return openChatOf(app, agentId, { config, ...(key ? { key } : {}) });
}

/** Opens a chat page of an agent that is published. */
export async function openChatOf(
  app: TestApp,
  agentId: string,
  { config = {}, key }: { config?: object; key?: string } = {},
): Promise<TestChat> {
  const connected = await app.api('post', `/agents/${agentId}/channels`, key).send({ channelType: 'web_chat' });
  const connectionId = connected.body.publicId as string;
  const configured = await app
    .api('patch', `/agents/${agentId}/channels/${connectionId}`, key)
    .send({ channelSpecificConfig: config });
  if (configured.status !== 200) throw new Error(configured.text);
  return { agentId, connectionId, url: `${app.origin}/chat/${connectionId}` };
}

/** A browser without a screen: what the page sends, sent by hand. */
export class TestVisitor {
  readonly chat: TestChat;
  token = '';

  constructor(chat: TestChat) {
    this.chat = chat;
  }

  /** A visitor with a session. `body`: as the page sends it. */
  static async open(chat: TestChat, body: object = {}): Promise<TestVisitor> {
    const visitor = new TestVisitor(chat);
    const { token } = (await (await visitor.post('/session', body)).json()) as { token: string };
    visitor.token = token;
    return visitor;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}), ...init.headers };
    return fetch(this.chat.url + path, { ...init, headers });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const json = { 'Content-Type': 'application/json', ...headers };
    return this.fetch(path, { method: 'POST', body: JSON.stringify(body), headers: json });
  }

  /** Sends a message. */
  say(text: string, { id = randomUUID(), files = [] }: { id?: string; files?: string[] } = {}): Promise<Response> {
    return this.post('/messages', { id, text, files });
  }

  /** Uploads a file. */
  upload(name: string, content: Uint8Array | string, type = ''): Promise<Response> {
    const body = new FormData();
    body.append('file', new File([content as Uint8Array<ArrayBuffer>], name, { type }));
    return this.fetch('/files', { method: 'POST', body });
  }

  /** What the page is given when it is opened. */
  async read(): Promise<{ messages: { role: string; text: string }[]; state: Record<string, unknown>; token: string }> {
    return (await (await this.post('/session', { token: this.token })).json()) as never;
  }

  /** Follows the conversation. */
  async follow(lastEventId = '0'): Promise<Stream & { close(): void }> {
    const cut = new AbortController();
    const response = await this.fetch('/stream', { headers: { 'Last-Event-ID': lastEventId }, signal: cut.signal });
    return Object.assign(new Stream(response), { close: () => cut.abort() });
  }
}
