import type { Kysely } from 'kysely';
import { findIdentities } from '../../db/queries/channels/endUsers.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { InboundEvent } from '../../integrations/channels/provider.ts';
import { resolveEndUser } from './endUsers.ts';
import { readIdentities, samePerson } from './identities.ts';

/**
 * Learns from the statuses of messages that we sent which identities are one person's: WhatsApp shows the number and the business-scoped id
 * of whoever got a message, so that a person who later writes without the number is known. One statement where nothing is new. People
 * who never wrote, and whom nothing of it names yet, stay unknown.
 */
export async function linkIdentities(
  db: Kysely<DB>,
  place: { workspaceId: string; connectionId: string },
  events: readonly InboundEvent[],
  now: Date,
): Promise<void> {
  const shown = events.flatMap((event) => (event.kind === 'status' && event.identities ? [event.identities] : []));
  if (shown.length === 0) return;
  const keys = shown.flatMap((identities) => readIdentities(identities).flatMap(samePerson));
  const known = new Map<string, string>();
  for (const { kind, value, end_user_id } of await findIdentities(db, place.workspaceId, place.connectionId, keys)) {
    known.set(`${kind} ${value}`, end_user_id);
  }
  for (const identities of shown) {
    const users = readIdentities(identities).map((identity) =>
      samePerson(identity)
        .map(({ kind, value }) => known.get(`${kind} ${value}`))
        .find((user) => user !== undefined),
    );
    const isNews = users.some((user) => user !== users[0]);
    if (isNews) await inTransaction(db, (trx) => resolveEndUser(trx, place, identities, { name: null, now }));
  }
}
