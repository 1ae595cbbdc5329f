import type { Kysely } from 'kysely';
import { toStorable } from '../../core/text.ts';
import type { ChannelConnectionRow } from '../../db/queries/channels/connections.ts';
import { type AccountProblem, updateLastHeard, updateProblem } from '../../db/queries/channels/health.ts';
import type { DB } from '../../generated/db.ts';
import type { ChannelProblemCode, SendOutcome } from '../../integrations/channels/provider.ts';

type Place = Pick<ChannelConnectionRow, 'workspace_id' | 'id'>;

/** A connection's last call is written down at most so often: a busy one is not written with each message. */
const HEARD_MS = 60_000;

/**
 * Notes that the provider has called the webhook of a connection, and what it said of the account, oldest first. `row` is the connection
 * as it was read for the request: the database is only asked for what it does not have yet.
 */
export async function noteWebhook(
  db: Kysely<DB>,
  row: Place & Pick<ChannelConnectionRow, 'last_inbound_at' | 'problem_code'>,
  said: readonly (AccountProblem | null)[],
  now: Date,
): Promise<void> {
  const { workspace_id, id, last_inbound_at, problem_code } = row;
  const isFresh = last_inbound_at !== null && now.getTime() - last_inbound_at.getTime() < HEARD_MS;
  if (!isFresh || problem_code === 'NO_WEBHOOK') await updateLastHeard(db, workspace_id, id, now);
  const last = said.at(-1);
  if (last !== undefined) await updateProblem(db, workspace_id, id, storable(last), now);
}

/**
 * Notes what a sent message, or one that was refused, says of the account: a sent one that it works. Only asks the database when that
 * changes what `row`, the connection as it was read for sending, says.
 */
export async function noteSendOutcome(
  db: Kysely<DB>,
  row: Place & Pick<ChannelConnectionRow, 'problem_code'>,
  outcome: SendOutcome,
  now: Date,
): Promise<void> {
  const { workspace_id, id, problem_code } = row;
  if (outcome.kind === 'refused' && outcome.problem) {
    const problem = { code: outcome.problem, message: outcome.message };
    await updateProblem(db, workspace_id, id, storable(problem), now);
  }
  // That messages can be sent does not say that any arrive.
  if (outcome.kind === 'sent' && problem_code !== null && problem_code !== 'NO_WEBHOOK')
    await updateProblem(db, workspace_id, id, null, now);
}

/**
 * Notes what the provider answered when it was asked how the account is. That it has not called for a day stays a problem when it says
 * that all is well: its address for our webhook may be wrong.
 */
export async function noteChecked(
  db: Kysely<DB>,
  { workspace_id, id, problem_code }: Place & Pick<ChannelConnectionRow, 'problem_code'>,
  problem: AccountProblem | null,
  now: Date,
): Promise<void> {
  if (problem === null && problem_code === 'NO_WEBHOOK') return;
  await updateProblem(db, workspace_id, id, storable(problem), now);
}

function storable(problem: { code: ChannelProblemCode; message: string } | null): AccountProblem | null {
  return problem && { code: problem.code, message: toStorable(problem.message) };
}
