import type { Kysely } from 'kysely';
import { insertOperatorMessage } from '../../db/queries/conversations/echoes.ts';
import type { DB } from '../../generated/db.ts';
import { snippetOf } from '../../runtime/turn/snippet.ts';

/** The agent is silent for so long after a person wrote in its place. */
export const PERSON_PAUSE_MS = 12 * 60 * 60 * 1000;

/**
 * Stores what somebody of the workspace wrote on the phone itself: a message of the agent's side whose author is an operator, which the
 * agent later reads as such. The agent is silent in the conversation for 12 hours from then, and so after each further one. Returns the
 * message's id; undefined when there is no such conversation. Call it once for each echo: it is new by its row of inbound_messages.
 */
export function recordEcho(
  db: Kysely<DB>,
  { workspaceId, conversationId }: { workspaceId: string; conversationId: string },
  text: string,
  now: Date,
): Promise<string | undefined> {
  const until = new Date(now.getTime() + PERSON_PAUSE_MS);
  const message = { content: text, snippet: snippetOf(text) };
  return insertOperatorMessage(db, workspaceId, conversationId, message, { by: 'person', until, now });
}
