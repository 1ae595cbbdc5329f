import type { IncomingMessage } from 'node:http';
import { fault, invalid } from '../../../core/errors.ts';
import { isStorable } from '../../../core/text.ts';
import { type ChatPageRow, findChatPage, type VisitorKey } from '../../../db/queries/channels/chatPages.ts';
import { type ChatVisitor, readVisitor } from '../../../domain/channels/webChat/visitors.ts';
import { readAll } from '../../api/body.ts';
import type { ChatParts } from './routes.ts';

/** Largest JSON body, in bytes: a message of the greatest length, in any script. */
const MAX_BODY_BYTES = 160 * 1024;
/** A browser has sent its body by then. */
const BODY_MS = 20_000;

/** What the operator set for a chat page. */
export interface ChatPageConfig {
  title?: string;
  welcomeMessage?: string;
  primaryColor?: string;
  allowedOrigins?: string[];
}

/** The chat page that an address leads to. Throws NOT_FOUND when there is none, or it is not open. */
export async function openPage(parts: ChatParts, connectionId: string): Promise<ChatPageRow> {
  const owner = await parts.addresses.ownerOf('channel', connectionId.toLowerCase());
  const page =
    owner && (await findChatPage(parts.forWorkspace(owner.workspace_id), owner.workspace_id, owner.target_id));
  if (!page) throw fault('NOT_FOUND', 'There is no chat here.');
  return page;
}

/** The settings of a page. */
export function chatConfigOf({ config }: Pick<ChatPageRow, 'config'>): ChatPageConfig {
  return config as ChatPageConfig;
}

/** The origins whose pages may embed the chat. Whatever is stored, nothing else than an origin comes out of here. */
export function allowedOriginsOf(page: Pick<ChatPageRow, 'config'>): string[] {
  const given = chatConfigOf(page).allowedOrigins ?? [];
  return given.filter((each) => /^https?:/.test(each) && URL.parse(each)?.origin === each);
}

/** The visitor whom a request names; undefined for one without a token that counts. */
export function visitorOf(parts: ChatParts, page: ChatPageRow, request: IncomingMessage): ChatVisitor | undefined {
  const token = /^Bearer ([\w.-]+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  return readVisitor(parts.runtime.secrets, page.id, token, parts.clock.now());
}

/** The key by which the database knows a visitor. */
export function visitorKeyOf(page: ChatPageRow, visitor: ChatVisitor): VisitorKey {
  return { workspaceId: page.workspace_id, connectionId: page.id, visitor: visitor.id };
}

/** The JSON object that a request carries. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, VALIDATION_ERROR. */
export async function readObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  // A form of another site cannot send this type without the browser asking us first (CORS).
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) throw fault('UNSUPPORTED_MEDIA_TYPE');
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(fault('REQUEST_TIMEOUT')), BODY_MS);
  try {
    const body = await Promise.race([readAll(request, MAX_BODY_BYTES), late.promise]);
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  } finally {
    clearTimeout(timer);
  }
  throw invalid('/body', 'must be a JSON object', 'parse');
}

/** A text of a body. Throws VALIDATION_ERROR when it is none, or not of this length (in UTF-16 code units). */
export function textIn(body: Record<string, unknown>, name: string, max: number, min = 1): string {
  const value = body[name];
  const fits = typeof value === 'string' && value.length >= min && value.length <= max && isStorable(value);
  if (!fits) throw invalid(`/body/${name}`, `must be a text of ${min} to ${max} characters`, 'type');
  return value;
}
