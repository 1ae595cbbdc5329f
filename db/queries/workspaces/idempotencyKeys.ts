import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { ApiError, ERRORS, type ErrorCode } from '../../../core/errors.ts';
import type { DB } from '../../../generated/db.ts';
import type { StoredBegunRequest } from '../../stored/begunRequest.ts';

/** A claim holds without a renewal for this time. When its process dies, other requests wait no longer than that. */
export const CLAIM_SECONDS = 20;
/** An answer is kept for this time. */
const KEPT_MS = 24 * 3_600_000;
/** Records that one statement of the sweep deletes. */
const MAX_REMOVED = 10_000;

const lease = sql`now() + make_interval(secs => ${sql.lit(CLAIM_SECONDS)})`;

/** The right to handle a request with an Idempotency-Key, until it has an answer. */
export interface KeyClaim {
  readonly workspaceId: string;
  readonly keyHash: Buffer;
  /** Differs for each attempt: of two attempts under one key, only the one that holds the claim can store anything. */
  readonly claimId: string;
  /** What an earlier attempt stored that has no answer; null = nothing. */
  readonly begun: StoredBegunRequest | null;
}

/** An answer as it is kept. */
export interface KeptAnswer {
  status: number;
  /** JSON. */
  body: string;
  /** The headers that the operation gave it, by name; absent = none. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** What is known of a request under its key. */
export type KeyState =
  | { state: 'claimed'; claim: KeyClaim }
  | { state: 'answered'; answer: KeptAnswer }
  | { state: 'running'; claimId: string | null; begun: StoredBegunRequest | null }
  | { state: 'reused' };

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  workspaceId: string;
  /** SHA-256 of method, path and key. */
  keyHash: Buffer;
  /** SHA-256 of the rest of the request. */
  requestHash: Buffer;
}

/** Thrown when another attempt has taken the claim: this process had stopped for longer than the claim holds. It is UNAVAILABLE. */
export class ClaimLost extends ApiError {
  constructor() {
    super('UNAVAILABLE', ERRORS.UNAVAILABLE.message);
  }
}

/**
 * Claims the key for a new attempt, unless it has an answer or another attempt holds it. A key that expired is as good as new, and one
 * whose last attempt failed may be used with another request.
 */
export async function claimKey(
  db: Kysely<DB>,
  { workspaceId, keyHash, requestHash }: KeyedRequest,
  { claimId, now }: { claimId: string; now: Date },
): Promise<KeyState> {
  const expiresAt = new Date(now.getTime() + KEPT_MS);
  const { rows } = await sql<{ begun: StoredBegunRequest | null }>`
    insert into idempotency_keys as kept (workspace_id, key_hash, request_hash, claim_id, claimed_until, expires_at)
    values (${workspaceId}, ${keyHash}, ${requestHash}, ${claimId}, ${lease}, ${expiresAt})
    on conflict (workspace_id, key_hash) do update set request_hash = excluded.request_hash, claim_id = excluded.claim_id,
      claimed_until = excluded.claimed_until, expires_at = excluded.expires_at, status = null, body = null, headers = null,
      begun = case when kept.expires_at > ${now} and kept.request_hash = excluded.request_hash then kept.begun end
    where (kept.claimed_until is null or kept.claimed_until < now())
      and (kept.expires_at <= ${now} or kept.status is null and (kept.claim_id is null or kept.request_hash = excluded.request_hash))
    returning begun`.execute(db);
  const claimed = rows[0];
  if (claimed) return { state: 'claimed', claim: { workspaceId, keyHash, claimId, begun: claimed.begun } };
  const found = await findKey(db, workspaceId, keyHash);
  // Removed meanwhile, by the sweep.
  if (!found) return { state: 'running', claimId: null, begun: null };
  if (!found.request_hash.equals(requestHash)) return { state: 'reused' };
  const { status, body, headers, claim_id, begun } = found;
  if (status !== null && body !== null)
    return { state: 'answered', answer: { status, body, headers: headers ?? undefined } };
  return { state: 'running', claimId: claim_id, begun };
}

function findKey(db: Kysely<DB>, workspaceId: string, keyHash: Buffer) {
  return db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'claim_id', 'begun', 'status', 'body', 'headers'])
    .where('workspace_id', '=', workspaceId)
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
}

/** SQL condition: the row is the one that the claim holds. */
const held = ({ workspaceId, keyHash, claimId }: KeyClaim): RawBuilder<boolean> =>
  sql<boolean>`workspace_id = ${workspaceId} and key_hash = ${keyHash} and claim_id = ${claimId}`;

/** SQL query: one row if the claim still holds; it then holds until the transaction ends. */
export function holdingClaim(claim: KeyClaim): RawBuilder<unknown> {
  return sql`select 1 from idempotency_keys where ${held(claim)} for update`;
}

/** Whether the claim still holds. */
export async function holdsClaim(db: Kysely<DB>, claim: KeyClaim): Promise<boolean> {
  const { rows } = await sql`select 1 from idempotency_keys where ${held(claim)}`.execute(db);
  return rows.length > 0;
}

/** SQL statement: notes what an attempt stores in the same transaction. */
export function notingBegun(claim: KeyClaim, begun: StoredBegunRequest): RawBuilder<unknown> {
  return sql`update idempotency_keys set begun = ${JSON.stringify(begun)}::jsonb where ${held(claim)}`;
}

/** Notes what an attempt stores in the same transaction. Throws ClaimLost. */
export async function noteBegun(trx: Transaction<DB>, claim: KeyClaim, begun: StoredBegunRequest): Promise<void> {
  const { numAffectedRows } = await notingBegun(claim, begun).execute(trx);
  if (numAffectedRows === 0n) throw new ClaimLost();
}

/** Stores the answer, which ends the claim: with the work, in its transaction. Throws ClaimLost. */
export async function storeAnswer(
  db: Kysely<DB>,
  claim: KeyClaim,
  { status, body, headers }: KeptAnswer,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update idempotency_keys set status = ${status}, body = ${body}, headers = ${headers ? JSON.stringify(headers) : null}::jsonb, claim_id = null, claimed_until = null, begun = null
    where ${held(claim)}`.execute(db);
  if (numAffectedRows === 0n) throw new ClaimLost();
}

/** SQL statement: ends a claim without an answer. The next request with the key begins again, with what was begun. */
export function releasingClaim(claim: KeyClaim): RawBuilder<unknown> {
  return sql`update idempotency_keys set claim_id = null, claimed_until = null where ${held(claim)}`;
}

/** Ends a claim without an answer. The next request with the key begins again, with what was begun. */
export async function releaseClaim(db: Kysely<DB>, claim: KeyClaim): Promise<void> {
  await releasingClaim(claim).execute(db);
}

/** How far a request is that another process handles. */
export interface KeyProgress {
  answered: boolean;
  /** Whether a process holds the claim. */
  running: boolean;
  /** Whether the last attempt ended without an answer. */
  released: boolean;
  begun: StoredBegunRequest | null;
  /** The error of the begun turn, when it failed. */
  failure: { code: ErrorCode; message: string } | null;
}

/** How far the requests under these keys are, of all workspaces, in their order; undefined where nothing is stored. */
export async function findKeyProgress(
  system: Kysely<DB>,
  keys: readonly Pick<KeyedRequest, 'workspaceId' | 'keyHash'>[],
): Promise<(KeyProgress | undefined)[]> {
  const { rows } = await sql<{ place: number } & KeyProgress>`
    select asked.place, k.status is not null as answered, coalesce(k.claimed_until >= now(), false) as running,
      k.status is null and k.claim_id is null as released, k.begun,
      (select json_build_object('code', t.error_code, 'message', t.error_message) from turns t
        where t.workspace_id = k.workspace_id and t.id = (k.begun ->> 'turnId')::uuid and t.status = 'failed') as failure
    from unnest(${keys.map((key) => key.workspaceId)}::uuid[], ${keys.map((key) => key.keyHash)}::bytea[])
      with ordinality as asked (workspace_id, key_hash, place)
    join idempotency_keys k on k.workspace_id = asked.workspace_id and k.key_hash = asked.key_hash`.execute(system);
  const found = new Map(rows.map(({ place, ...progress }) => [place, progress]));
  return keys.map((_key, index) => found.get(index + 1));
}

/** Renews claims of all workspaces. */
export async function renewClaims(system: Kysely<DB>, claims: readonly KeyClaim[]): Promise<void> {
  await sql`
    update idempotency_keys set claimed_until = ${lease}
    from unnest(${claims.map((claim) => claim.workspaceId)}::uuid[], ${claims.map((claim) => claim.keyHash)}::bytea[],
      ${claims.map((claim) => claim.claimId)}::uuid[]) as held (workspace_id, key_hash, claim_id)
    where idempotency_keys.workspace_id = held.workspace_id and idempotency_keys.key_hash = held.key_hash
      and idempotency_keys.claim_id = held.claim_id`.execute(system);
}

/** Removes records of all workspaces that have expired. */
export async function removeExpiredKeys(system: Kysely<DB>, now: Date): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from idempotency_keys using (
        select workspace_id, key_hash from idempotency_keys
        where expires_at <= ${now} and (claimed_until is null or claimed_until < now())
        order by expires_at limit ${sql.lit(MAX_REMOVED)} for update skip locked
      ) as expired
      where idempotency_keys.workspace_id = expired.workspace_id and idempotency_keys.key_hash = expired.key_hash`.execute(
      system,
    );
    if (numAffectedRows < BigInt(MAX_REMOVED)) return;
  }
}

const keptBytes = sql`octet_length(body) + coalesce(octet_length(headers::text), 0)`;

/** Removes the oldest records of each workspace that has more than `records` of them, or more than `bytes` of answers. */
export async function removeExcessKeys(system: Kysely<DB>, most: { records: number; bytes: number }): Promise<void> {
  await sql`
    with crowded as (
      select workspace_id from idempotency_keys where claim_id is null group by workspace_id
      having count(*) > ${most.records} or sum(${keptBytes}) > ${most.bytes}
    ), ranked as (
      select workspace_id, key_hash, row_number() over newest_first as place, sum(${keptBytes}) over newest_first as bytes
      from idempotency_keys join crowded using (workspace_id)
      where claim_id is null
      window newest_first as (partition by workspace_id order by expires_at desc, key_hash rows unbounded preceding)
    )
    delete from idempotency_keys using ranked
    where idempotency_keys.workspace_id = ranked.workspace_id and idempotency_keys.key_hash = ranked.key_hash
      and idempotency_keys.claim_id is null and (ranked.place > ${most.records} or ranked.bytes > ${most.bytes})`.execute(
    system,
  );
}
