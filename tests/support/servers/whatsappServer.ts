import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/*
 * Meta's Cloud API on a local port, as documented in 2026 (developers.facebook.com/documentation/business-messaging/whatsapp): the bearer token, the
 * paths, and the bodies of messages, typing indicators and media. What the real one refuses is refused with its code; what it accepts and
 * loses (a business-scoped user id in `to`) is lost.
 */

/** A message that was accepted. */
export interface AcceptedMessage {
  id: string;
  /** `to` or `recipient`, as it came. */
  address: string;
  type: string;
  /** The text, the link of the audio, or the name and parameters of the template. */
  content: string;
  /** Our own id. */
  callbackData: string | undefined;
  body: Record<string, unknown>;
}

/** An error that the next messages get. */
export type WhatsappFault =
  | { status: number; code: number; subcode?: number; message?: string; transient?: boolean }
  | { silence: true }
  | { hangUp: true }
  /** The message is taken, and the answer is lost. */
  | { hangUpAfter: true }
  | { text: string; status: number }
  | { redirect: string };

/** A running Cloud API with one phone number. Its state is to be changed at will. */
export interface WhatsappServer {
  baseUrl: string;
  phoneNumberId: string;
  accessToken: string;
  appSecret: string;
  verifyToken: string;
  messages: AcceptedMessage[];
  /** Messages that were answered with 200 and reach nobody. */
  lost: Record<string, unknown>[];
  /** Ids of messages that were marked as read with a typing indicator. */
  typing: string[];
  /** Files by their id. `url` replaces the address that is handed out. */
  media: Map<string, { bytes: Buffer; mediaType: string; url?: string; size?: number }>;
  /** Tokens that fetched files. */
  fetched: string[];
  templates: Set<string>;
  state: { status: string; health: Record<string, unknown> };
  fault: WhatsappFault | undefined;
  /** Requests that were refused, with the reason. */
  refused: string[];
  /** A webhook as Meta sends it: the raw body and its signature. */
  sign(payload: unknown): { body: string; headers: Record<string, string> };
  close(): Promise<void>;
}

const PHONE = /^\+?\d{5,20}$/;
const BSUID = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/;

/** Starts it. */
export async function startWhatsappServer(): Promise<WhatsappServer> {
  const http = createServer((request, response) => {
    void answer(server, request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const appSecret = 'app-secret-0123456789abcdef';
  const server: WhatsappServer = {
    baseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v23.0`,
    phoneNumberId: '106540352242922',
    accessToken: 'EAAJB-secret-token-0123456789',
    appSecret,
    verifyToken: 'verify-me-0123456789',
    messages: [],
    lost: [],
    typing: [],
    media: new Map(),
    fetched: [],
    templates: new Set(['follow_up']),
    state: { status: 'CONNECTED', health: { can_send_message: 'AVAILABLE', entities: [] } },
    fault: undefined,
    refused: [],
    sign: (payload) => {
      const body = JSON.stringify(payload);
      const signature = createHmac('sha256', appSecret).update(body).digest('hex');
      return { body, headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` } };
    },
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

class GraphError extends Error {
  readonly status: number;
  readonly code: number;
  readonly subcode: number | undefined;
  readonly transient: boolean;

  constructor(status: number, code: number, message: string, subcode?: number, transient = false) {
    super(message);
    this.status = status;
    this.code = code;
    this.subcode = subcode;
    this.transient = transient;
  }
}

async function answer(server: WhatsappServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sent = await text(request).catch(() => '');
  const { fault } = server;
  try {
    if (fault && 'silence' in fault) return;
    if (fault && 'hangUp' in fault) return void request.socket.destroy();
    if (fault && 'redirect' in fault) return void response.writeHead(302, { location: fault.redirect }).end();
    if (fault && 'text' in fault) return void response.writeHead(fault.status).end(fault.text);
    if (fault && 'code' in fault) {
      throw new GraphError(fault.status, fault.code, fault.message ?? 'An error', fault.subcode, fault.transient);
    }
    const url = new URL(request.url ?? '/', 'http://graph');
    if (request.headers.authorization !== `Bearer ${server.accessToken}`) {
      throw new GraphError(401, 190, 'Invalid OAuth access token - Cannot parse access token');
    }
    const result = route(server, request, url, sent);
    if (fault && 'hangUpAfter' in fault) return void request.socket.destroy();
    if (Buffer.isBuffer(result.body)) {
      return void response
        .writeHead(200, { 'content-type': result.type ?? 'application/octet-stream' })
        .end(result.body);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result.body));
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    const { status, code, subcode, message, transient } = error;
    server.refused.push(message);
    response.writeHead(status, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        error: {
          message: `(#${code}) ${message}`,
          type: 'OAuthException',
          code,
          ...(subcode === undefined ? {} : { error_subcode: subcode }),
          ...(transient ? { is_transient: true } : {}),
          error_data: { messaging_product: 'whatsapp', details: message },
          fbtrace_id: 'Az8or2yhqkZfEZ-_4Qn_Bam',
        },
      }),
    );
  }
}

function route(
  server: WhatsappServer,
  request: IncomingMessage,
  url: URL,
  sent: string,
): { body: unknown; type?: string } {
  const path = url.pathname;
  if (request.method === 'POST' && path === `/v23.0/${server.phoneNumberId}/messages`) {
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
      throw new GraphError(400, 100, 'The parameter messaging_product is required.');
    }
    return { body: takeMessage(server, JSON.parse(sent) as Record<string, unknown>) };
  }
  if (request.method === 'GET' && path === `/v23.0/${server.phoneNumberId}`) {
    const { status, health } = server.state;
    return { body: { id: server.phoneNumberId, status, quality_rating: 'GREEN', health_status: health } };
  }
  if (request.method === 'GET' && path === '/whatsapp_business/attachments/') {
    const file = server.media.get(url.searchParams.get('mid') ?? '');
    if (!file) throw new GraphError(404, 100, 'Media not found');
    server.fetched.push(request.headers.authorization ?? '');
    return { body: file.bytes, type: file.mediaType };
  }
  const mediaId = /^\/v23\.0\/([\w-]+)$/.exec(path)?.[1] ?? '';
  const file = server.media.get(mediaId);
  if (request.method === 'GET' && file && url.searchParams.get('phone_number_id') === server.phoneNumberId) {
    const { origin } = new URL(server.baseUrl);
    return {
      body: {
        messaging_product: 'whatsapp',
        url: file.url ?? `${origin}/whatsapp_business/attachments/?mid=${mediaId}&ext=1&hash=2`,
        mime_type: file.mediaType,
        sha256: createHash('sha256').update(file.bytes).digest('hex'),
        file_size: file.size ?? file.bytes.length,
        id: mediaId,
      },
    };
  }
  throw new GraphError(400, 100, `Unsupported ${request.method} request. Object with ID does not exist`, 33);
}

function takeMessage(server: WhatsappServer, body: Record<string, unknown>): unknown {
  if (body.messaging_product !== 'whatsapp')
    throw new GraphError(400, 100, 'The parameter messaging_product is required.');
  if (body.status !== undefined) {
    onlyKeys(body, ['messaging_product', 'status', 'message_id', 'typing_indicator']);
    const indicator = body.typing_indicator as { type?: unknown } | undefined;
    if (body.status !== 'read' || typeof body.message_id !== 'string' || indicator?.type !== 'text') {
      throw new GraphError(400, 100, 'Invalid parameter');
    }
    server.typing.push(body.message_id);
    return { success: true };
  }
  const { to, recipient, type, biz_opaque_callback_data: callbackData } = body;
  onlyKeys(body, [
    'messaging_product',
    'recipient_type',
    'to',
    'recipient',
    'type',
    String(type),
    'biz_opaque_callback_data',
  ]);
  if (to === undefined && recipient === undefined) throw new GraphError(400, 100, 'The parameter to is required.');
  if (recipient !== undefined && !(typeof recipient === 'string' && BSUID.test(recipient))) {
    throw new GraphError(400, 100, 'Param recipient must be a business-scoped user id.');
  }
  if (callbackData !== undefined && !(typeof callbackData === 'string' && callbackData.length <= 512)) {
    throw new GraphError(400, 100, 'Param biz_opaque_callback_data must have at most 512 characters.');
  }
  const content = contentOf(server, String(type), (body[String(type)] ?? {}) as Record<string, unknown>);
  const address = String(to ?? recipient);
  const id = `wamid.${createHash('sha256')
    .update(`${server.messages.length + server.lost.length} ${address}`)
    .digest('base64')}`;
  if (to !== undefined && !PHONE.test(String(to))) server.lost.push(body);
  else server.messages.push({ id, address, type: String(type), content, callbackData, body });
  const contact = to === undefined ? { input: address, user_id: address } : { input: address, wa_id: address };
  return { messaging_product: 'whatsapp', contacts: [contact], messages: [{ id, message_status: 'accepted' }] };
}

function contentOf(server: WhatsappServer, type: string, content: Record<string, unknown>): string {
  switch (type) {
    case 'text': {
      onlyKeys(content, ['preview_url', 'body']);
      const { body, preview_url: preview } = content;
      if (typeof preview !== 'boolean' || typeof body !== 'string' || body === '') {
        throw new GraphError(400, 100, 'The parameter text.body is required.');
      }
      if (body.length > 4096) throw new GraphError(400, 100, 'Param text.body must be at most 4096 characters long.');
      return body;
    }
    case 'audio': {
      onlyKeys(content, ['link', 'voice']);
      if (!/^https?:\/\//.test(String(content.link)))
        throw new GraphError(400, 100, 'Param audio.link is not a valid URI.');
      return String(content.link);
    }
    case 'template': {
      onlyKeys(content, ['name', 'language', 'components']);
      const {
        name,
        language,
        components = [],
      } = content as {
        name?: unknown;
        language?: { code?: unknown };
        components?: { type: string; parameters: { type: string; text: string }[] }[];
      };
      if (!server.templates.has(String(name)) || typeof language?.code !== 'string') {
        throw new GraphError(404, 132001, 'Template name does not exist in the translation');
      }
      const parameters = components.flatMap((component) => component.parameters.map((each) => each.text));
      if (parameters.some((each) => each === '' || /[\n\t]| {4}/.test(each))) {
        throw new GraphError(
          400,
          132018,
          'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
        );
      }
      return [name, language.code, ...parameters].join('|');
    }
    default:
      throw new GraphError(400, 100, 'Param type must be one of {AUDIO, TEMPLATE, TEXT}.');
  }
}

function onlyKeys(body: Record<string, unknown>, keys: readonly string[]): void {
  const other = Object.keys(body).find((key) => !keys.includes(key));
  if (other !== undefined) throw new GraphError(400, 100, `Unexpected key "${other}".`);
}
