// Long because all that the page calls stands here, a few lines each.
import express, { type Request, type Response, type Router } from 'express';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../../../core/clock.ts';
import { fault, invalid } from '../../../core/errors.ts';
import { isUuid } from '../../../core/ids.ts';
import { updateChatFilesSent } from '../../../db/queries/channels/chatFiles.ts';
import { type ChatPageRow, findChatStanding, type VisitorKey } from '../../../db/queries/channels/chatPages.ts';
import { countChatMessage } from '../../../db/queries/channels/chatUsage.ts';
import { endPause, pauseConversation } from '../../../db/queries/conversations/pause.ts';
import { decideAsUser } from '../../../db/queries/turns/approvals.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { openChannelCredentials } from '../../../domain/channels/credentials.ts';
import { receiveEvents } from '../../../domain/channels/receive.ts';
import { identitySecretsOf } from '../../../domain/channels/webChat/identitySecret.ts';
import {
  type ChatVisitor,
  clientUserOfVisitor,
  identifiedVisitor,
  openVisit,
  readVisitor,
  startSession,
  userVisitor,
  type VisitorSession,
} from '../../../domain/channels/webChat/visitors.ts';
import type { DB } from '../../../generated/db.ts';
import type { Jobs } from '../../../jobs/jobs.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { sendError, toApiError } from '../../api/errors.ts';
import { openEventStream } from '../../api/eventStream.ts';
import { identify } from '../../api/identify.ts';
import type { RequestTurns } from '../../api/requestTurns.ts';
import { sendJson } from '../../api/sendJson.ts';
import type { UnreadAnswers } from '../../api/unread.ts';
import type { AddressBook } from '../hooks/addressBook.ts';
import type { HubDirectory } from '../hub/directory.ts';
import { fileBody, PAGE_OF_MESSAGES, providerIdOf, readMessages, readState } from './conversation.ts';
import { filesOf, receiveFile, sendFile } from './files.ts';
import { type ChatLimits, type CountedKind, countedAddress, dailySubjects, tooMany } from './limits.ts';
import { chatAssets, sendPage, settingsOf } from './page.ts';
import { checkHubOf, findSignedInUser, isStillSignedIn } from './signedIn.ts';
import type { ChatStreams } from './streams.ts';
import { allowedOriginsOf, openPage, readObject, textIn, visitorKeyOf, visitorOf } from './visit.ts';

/** Everything that the chat page needs; AppParts has it. */
export interface ChatParts {
  addresses: AddressBook;
  hubDirectory: HubDirectory;
  forWorkspace(workspaceId: string): Kysely<DB>;
  runtime: Runtime;
  jobs: Jobs;
  clock: Clock;
  logger: Logger;
  requestTurns: RequestTurns;
  unread: UnreadAnswers;
  uploadDir: string;
  chatLimits: ChatLimits;
  chatStreams: ChatStreams;
  serving(): boolean;
}

/** Characters of a message: as many as the API takes. */
export const MAX_MESSAGE = 32_000;
const MAX_FILES = 10;
const MAX_TOKEN = 2000;
/** A stream is ended after so long, and its client comes again: what was switched off meanwhile does not stay open. */
const STREAM_MS = 15 * 60_000;

/** A request for an open page. */
interface Visit {
  page: ChatPageRow;
  request: Request;
  response: Response;
  params: Readonly<Record<string, string>>;
}

/** A request of a visitor who is known. */
interface VisitorVisit extends Visit {
  visitor: ChatVisitor;
  key: VisitorKey;
}

/** `/chat`: the page, the script that embeds it, and what the page calls. No API key is needed or accepted here. */
export function chatRoutes(parts: ChatParts): Router {
  const router = express.Router({ caseSensitive: true });

  /** Serves requests for one page: looks whether it is open, says which origins may call it, counts, and renders errors as the API does. */
  function serve(kind: CountedKind, handle: (visit: Visit) => Promise<void>) {
    return async (request: Request, response: Response) => {
      const requestId = identify(request, response);
      try {
        if (!parts.serving()) throw fault('UNAVAILABLE');
        const { connection = '', ...params } = request.params as Record<string, string>;
        const page = await openPage(parts, connection);
        await checkHubOf(parts, page, request);
        allowOrigin(page, request, response);
        await parts.requestTurns.take(page.workspace_id);
        const { id: connectionId } = page;
        const visitor = visitorOf(parts, page, request)?.id ?? null;
        parts.chatLimits.take(kind, { connectionId, visitor, address: countedAddress(request.ip) });
        await handle({ page, request, response, params });
        parts.unread.watch(response, page.workspace_id);
      } catch (error) {
        const failure = toApiError(error);
        if (failure.status >= 500)
          parts.logger.warn({ requestId, err: failure.cause ?? failure }, 'a chat request failed');
        sendError(response, failure, requestId);
      }
    };
  }

  /** As `serve`, for requests that only a visitor with a token may make. */
  function serveVisitor(kind: CountedKind, handle: (visit: VisitorVisit) => Promise<void>) {
    return serve(kind, async (visit) => {
      const { page, request, response } = visit;
      const visitor = visitorOf(parts, page, request);
      const userId = visitor && clientUserOfVisitor(visitor);
      // What a user of a client wrote is no one else's, and the credits are the client's: the session ends, and so does this.
      const isKnown = userId === undefined || userId === (await findSignedInUser(parts, page, request, response));
      if (visitor && isKnown) return handle({ ...visit, visitor, key: visitorKeyOf(page, visitor) });
      const requestId = String(response.getHeader('X-Request-Id'));
      const message = 'The visitor is not known any more. Open a new session.';
      sendJson(response, 401, { code: 'VISITOR_UNKNOWN', message, status: 401, requestId });
    });
  }

  router.use(chatAssets());
  router.get(
    '/:connection',
    serve('visit', async ({ page, response }) => sendPage(page, response)),
  );
  router.options(
    ['/:connection/*rest'],
    serve('read', async ({ response }) => void response.status(204).end()),
  );

  // What the embedding script shows. Browsers hand it to pages of the allowed origins only.
  router.get(
    '/:connection/settings',
    serve('visit', async ({ page, response }) => sendJson(response, 200, settingsOf(page))),
  );

  router.post(
    '/:connection/session',
    serve('visit', async ({ page, request, response }) => {
      const body = await readObject(request);
      const userId = body.userId === undefined ? await findSignedInUser(parts, page, request, response) : undefined;
      const session = sessionOf(parts, page, body, userId);
      const key = visitorKeyOf(page, session.visitor);
      const [messages, state] = await Promise.all([readMessages(parts, key, {}), readState(parts, page, key)]);
      sendJson(response, 200, {
        token: session.token,
        isIdentified: session.visitor.isIdentified,
        ...pageOf(messages),
        state,
      });
    }),
  );

  router.get(
    '/:connection/messages',
    serveVisitor('read', async ({ key, request, response }) => {
      const before = Number(request.query.before);
      if (!Number.isSafeInteger(before) || before < 1)
        throw invalid('/query/before', 'must be the number of a message', 'type');
      sendJson(response, 200, pageOf(await readMessages(parts, key, { before })));
    }),
  );

  router.post(
    '/:connection/messages',
    serveVisitor('message', async ({ page, visitor, key, request, response }) => {
      const body = await readObject(request);
      await acceptMessage(parts, { page, visitor, key, address: countedAddress(request.ip) }, body);
      sendJson(response, 202, { id: body.id });
    }),
  );

  router.get(
    '/:connection/stream',
    serveVisitor('stream', async ({ page, visitor, key, request, response }) => {
      const place = placeOf(request.get('last-event-id') ?? '');
      const isKnown = async () =>
        clientUserOfVisitor(visitor) === undefined || (await isStillSignedIn(parts, page, request));
      follow(parts, { page, key, address: countedAddress(request.ip), place, isKnown }, response);
    }),
  );

  router.post(
    '/:connection/files',
    serveVisitor('file', async ({ key, request, response }) => {
      const [file] = fileBody(await receiveFile(parts, key, request));
      sendJson(response, 201, file);
    }),
  );

  router.get(
    '/:connection/files/:file',
    serveVisitor('read', async ({ key, params, response }) => {
      const [file] = await filesOf(parts, key, [params.file ?? '']);
      if (file) await sendFile(parts, file, response);
    }),
  );

  router.post(
    '/:connection/approvals/:approval',
    serveVisitor('message', async ({ page, key, params, request, response }) => {
      const { decision } = await readObject(request);
      if (decision !== 'approve' && decision !== 'reject')
        throw invalid('/body/decision', 'must be approve or reject', 'enum');
      const standing =
        page.approvals_by === 'user' ? await findChatStanding(db(key), key, parts.clock.now()) : undefined;
      const waits = standing?.waiting.some(({ id }) => id === params.approval);
      // Nobody learns which approvals there are.
      if (!standing || !waits) throw fault('NOT_FOUND', 'There is nothing to decide.');
      const decided = { workspaceId: key.workspaceId, conversationId: standing.id, id: params.approval ?? '' };
      await inTransaction(db(key), (trx) =>
        decideAsUser(trx, decided, decision === 'approve' ? 'approved' : 'rejected', parts.clock.now()),
      );
      parts.chatStreams.wake(key.connectionId, key.visitor);
      sendJson(response, 200, await readState(parts, page, key));
    }),
  );

  router.post(
    '/:connection/person',
    serveVisitor('message', async ({ page, key, request, response }) => {
      const { wanted } = await readObject(request);
      if (typeof wanted !== 'boolean') throw invalid('/body/wanted', 'must be true or false', 'type');
      const now = parts.clock.now();
      const standing = await findChatStanding(db(key), key, now);
      if (!standing || standing.is_ended) throw fault('CONVERSATION_NOT_FOUND', 'The conversation has not begun yet.');
      if (wanted) await pauseConversation(db(key), key.workspaceId, standing.id, { by: 'user', until: null, now });
      // A pause that somebody else made is not the visitor's to end.
      else if (standing.paused_by === 'user') await endPause(db(key), key.workspaceId, standing.id);
      parts.chatStreams.wake(key.connectionId, key.visitor);
      sendJson(response, 200, await readState(parts, page, key));
    }),
  );

  function db(key: VisitorKey): Kysely<DB> {
    return parts.forWorkspace(key.workspaceId);
  }
  return router;
}

/** Messages, and whether there are earlier ones. */
function pageOf(messages: Awaited<ReturnType<typeof readMessages>>) {
  return { messages, hasMore: messages.length === PAGE_OF_MESSAGES };
}

/** Pages of the allowed origins may call what the chat page calls (CORS). */
function allowOrigin(page: ChatPageRow, request: Request, response: Response): void {
  response.vary('Origin');
  const origin = request.get('origin');
  if (origin === undefined || !allowedOriginsOf(page).includes(origin)) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
  if (request.method !== 'OPTIONS') return;
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, Last-Event-ID');
  response.setHeader('Access-Control-Max-Age', '600');
}

/** The session that a body asks for: of a person whom the site names, else of the signed-in user of a client, of the token's visitor, or a new one. */
function sessionOf(
  parts: ChatParts,
  page: ChatPageRow,
  body: Record<string, unknown>,
  clientUserId: string | undefined,
): VisitorSession {
  const { secrets } = parts.runtime;
  const now = parts.clock.now();
  const token = body.token === undefined ? undefined : textIn(body, 'token', MAX_TOKEN);
  if (clientUserId !== undefined) return startSession(secrets, page.id, userVisitor(clientUserId), now);
  if (body.userId === undefined) {
    const known = token === undefined ? undefined : readVisitor(secrets, page.id, token, now);
    // Nobody is signed in any more: whoever is here now is somebody new.
    const isUser = known !== undefined && clientUserOfVisitor(known) !== undefined;
    return openVisit(secrets, page.id, isUser ? undefined : token, now);
  }
  const userId = textIn(body, 'userId', 1000);
  const known = identitySecretsOf(openChannelCredentials(secrets, page), now);
  const visitor = identifiedVisitor(known, userId, textIn(body, 'hmac', 200));
  if (!visitor) throw invalid('/body/hmac', 'does not prove who the user is');
  return startSession(secrets, page.id, visitor, now);
}

/** Stores a message of a visitor. When it resolves the message is stored, and is answered whatever happens to this process. */
async function acceptMessage(
  parts: ChatParts,
  { page, visitor, key, address }: { page: ChatPageRow; visitor: ChatVisitor; key: VisitorKey; address: string },
  body: Record<string, unknown>,
): Promise<void> {
  const { workspaceId, connectionId } = key;
  const id = textIn(body, 'id', 36);
  if (!isUuid(id)) throw invalid('/body/id', 'must be a UUID', 'format');
  const text = body.text === undefined ? '' : textIn(body, 'text', MAX_MESSAGE, 0).trim();
  const fileIds = body.files ?? [];
  const areIds =
    Array.isArray(fileIds) && fileIds.length <= MAX_FILES && fileIds.every((each) => typeof each === 'string');
  if (!areIds) throw invalid('/body/files', `must be at most ${MAX_FILES} ids of files`, 'type');
  if (text === '' && fileIds.length === 0) throw invalid('/body/text', 'must not be empty without a file', 'minLength');
  const db = parts.forWorkspace(workspaceId);
  const files = await filesOf(parts, key, [...new Set(fileIds as string[])]);
  const now = parts.clock.now();
  await checkDay(db, { connectionId, visitor: visitor.id, address }, workspaceId, now);
  const clientUserId = clientUserOfVisitor(visitor);
  const event = {
    kind: 'message' as const,
    providerMessageId: providerIdOf(visitor.id, id),
    identities: [{ kind: 'visitor' as const, value: visitor.id }],
    profileName: null,
    text,
    media: files.map(({ id: reference, media_type: mediaType, filename }) => ({ reference, mediaType, filename })),
    sentAt: now.toISOString(),
    ...(clientUserId === undefined ? {} : { clientUserId }),
  };
  // First, so that no message ever has a file that is removed as one that nobody sent.
  if (files.length > 0)
    await updateChatFilesSent(
      db,
      workspaceId,
      files.map((file) => file.id),
    );
  const connection = { workspace_id: workspaceId, id: page.id, is_active: true };
  const { waiting } = await receiveEvents(db, connection, [event], now);
  for (const each of waiting) void parts.jobs.send('take-inbound', each);
  parts.chatStreams.wake(connectionId, visitor.id);
}

/** Counts a message of the day. Throws RATE_LIMITED until the day ends (UTC) when the visitor, the address or the page has had its share. */
async function checkDay(
  db: Kysely<DB>,
  counted: { connectionId: string; visitor: string; address: string },
  workspaceId: string,
  now: Date,
): Promise<void> {
  const subjects = dailySubjects(counted);
  const day = now.toISOString().slice(0, 10);
  const of = { workspaceId, connectionId: counted.connectionId, day };
  const counts = await countChatMessage(
    db,
    of,
    subjects.map(({ subject }) => subject),
  );
  if (!subjects.some(({ limit }, index) => (counts[index] ?? 0) > limit)) return;
  const midnight = Date.parse(`${day}T00:00:00Z`) + 24 * 60 * 60 * 1000;
  throw tooMany(Math.ceil((midnight - now.getTime()) / 1000));
}

/** What a client has: `<number of its newest message>`, and of a reply that is being written `:<its id>:<code units of it>`. */
function placeOf(lastEventId: string): { lastSeq: number; replyId: string | null; offset: number } {
  const [seq = '', replyId = '', offset = ''] = lastEventId.slice(0, 100).split(':');
  const number = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : 0);
  const lastSeq = /^\d{1,15}$/.test(seq) ? Number(seq) : 0;
  return isUuid(replyId) ? { lastSeq, replyId, offset: number(offset) } : { lastSeq, replyId: null, offset: 0 };
}

/** Streams a visitor's conversation to a browser. Each event has the id with which the browser goes on after a cut. */
function follow(
  parts: ChatParts,
  {
    page,
    key,
    address,
    place,
    isKnown,
  }: {
    page: ChatPageRow;
    key: VisitorKey;
    address: string;
    place: ReturnType<typeof placeOf>;
    /** Whether the visitor may still read. */
    isKnown: () => Promise<boolean>;
  },
  response: Response,
): void {
  let { lastSeq } = place;
  let live = place.replyId === null ? '' : `:${place.replyId}:${place.offset}`;
  let stream: ReturnType<typeof openEventStream> | undefined;
  const leave = parts.chatStreams.follow(
    { ...key, ...place, address },
    {
      async messages() {
        if (!(await isKnown())) stream?.end();
        else
          for (const message of await readMessages(parts, key, { after: lastSeq })) {
            lastSeq = message.seq;
            stream?.send('message', message, `${lastSeq}${live}`);
          }
        return lastSeq;
      },
      reply(replyId) {
        live = replyId === null ? '' : `:${replyId}:0`;
        stream?.send('reply', { reply: replyId }, `${lastSeq}${live}`);
      },
      text(replyId, at, text) {
        live = `:${replyId}:${at + text.length}`;
        stream?.send('text', { reply: replyId, at, text }, `${lastSeq}${live}`);
      },
      async state() {
        if (!(await isKnown())) stream?.end();
        else stream?.send('state', await readState(parts, page, key));
      },
      end: () => stream?.end(),
    },
  );
  response.once('close', leave);
  stream = openEventStream(response);
  const timer = setTimeout(() => stream?.end(), STREAM_MS).unref();
  response.once('close', () => clearTimeout(timer));
}
