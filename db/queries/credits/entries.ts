import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { CreditSource } from './lots.ts';

/** A line of the ledger, with the message that used the credits. */
export interface LedgerLine {
  id: string;
  createdAt: Date;
  kind: 'grant' | 'use' | 'expiry' | 'reversal' | 'correction';
  amount: number;
  /** Of the lot that it changed; null = none, as for a message of a client without a limit. */
  source: CreditSource | null;
  lotId: string | null;
  expiresAt: Date | null;
  key: string;
  note: string | null;
  messageId: string | null;
  conversationId: string | null;
}

/** Lines that one statement reads. */
const PAGE = 1_000;

/**
 * The lines of a client from `from` on and before `to`, the oldest first, a page at a time. An entry of 0 is no line: it marks that its
 * cause has been dealt with, and that there was nothing to change.
 */
export async function* pagesOfLedger(
  db: Kysely<DB>,
  workspaceId: string,
  { clientId, from, to }: { clientId: string; from: Date; to: Date | null },
): AsyncGenerator<LedgerLine[]> {
  let after: Pick<LedgerLine, 'createdAt' | 'id'> | undefined;
  for (;;) {
    const page = await selectLines(db, workspaceId, { clientId, from, to, after });
    if (page.length > 0) yield page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

async function selectLines(
  db: Kysely<DB>,
  workspaceId: string,
  range: { clientId: string; from: Date; to: Date | null; after: Pick<LedgerLine, 'createdAt' | 'id'> | undefined },
): Promise<LedgerLine[]> {
  const { clientId, from, to, after } = range;
  const begin = after
    ? sql`(e.created_at, e.id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql`e.created_at >= ${from}`;
  const { rows } = await sql<LedgerLine>`
    select e.id, e.created_at as "createdAt", e.kind, e.amount, l.source, e.lot_id as "lotId", l.expires_at as "expiresAt", e.key, e.note,
      e.message_id as "messageId", t.conversation_id as "conversationId"
    from credit_entries e
    left join credit_lots l on l.workspace_id = ${workspaceId} and l.id = e.lot_id
    left join turns t on t.workspace_id = ${workspaceId} and t.id = e.turn_id
    where e.workspace_id = ${workspaceId} and e.client_id = ${clientId} and e.amount <> 0 and ${begin} ${to ? sql`and e.created_at < ${to}` : sql``}
    order by e.created_at, e.id limit ${PAGE}`.execute(db);
  return rows;
}

/** The workspace of a client that is not deleted, or was. */
export async function findWorkspaceOfClient(system: Kysely<DB>, clientId: string): Promise<string | undefined> {
  const row = await system.selectFrom('clients').select('workspace_id').where('id', '=', clientId).executeTakeFirst();
  return row?.workspace_id;
}
