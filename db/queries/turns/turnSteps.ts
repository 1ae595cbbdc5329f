import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { DB, TurnSteps } from '../../../generated/db.ts';
import { compileOnce } from '../../compiled.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { type HeldTurn, heldBy } from './leases.ts';
import { withStepsPartition } from './stepPartitions.ts';

/** A step of a turn, as it is stored. `input` and `output` are JSON that PostgreSQL takes: without NUL and lone surrogates. */
export interface StepRow extends Omit<Selectable<TurnSteps>, 'workspace_id' | 'turn_id' | 'request' | 'state'> {
  /** What the model was sent, as JSON; in UTF-8 when it is long. Null = it is not stored, or the step is no call of a model. */
  request: string | Buffer | null;
  /** A StoredStepState, as a JSON text; null = nobody can go on from the step. */
  state: string | null;
}

/**
 * SQL statement: inserts steps of a turn. Run it by `withStepsPartition`. `keeps`: whether what its models were sent, and what another process
 * would go on from, is stored too. It is not for a conversation that is deleted.
 */
export function insertingSteps(
  workspaceId: string,
  turnId: string,
  steps: readonly StepRow[],
  keeps: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  return sql`insert into turn_steps (workspace_id, turn_id, seq, agent_id, depth, kind, name, provider, status, input, output,
      duration_ms, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, finish_reason, cost_usd, started_at, request,
      parent_seq, state)
    select ${workspaceId}, ${turnId}, seq, agent_id, depth, kind, name, provider, status, input, output,
      duration_ms, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, finish_reason, cost_usd, started_at,
      case when ${keeps} then ${requestOf(steps)} end, parent_seq, case when ${keeps} then state::json end
    from jsonb_to_recordset(${JSON.stringify(steps.map(withoutOwn))}::jsonb) as step (seq int, agent_id uuid, depth int, kind text, name text,
      provider text, status text, input jsonb, output jsonb, duration_ms int, input_tokens int, output_tokens int,
      cached_input_tokens int, cache_write_tokens int, finish_reason text, cost_usd numeric, started_at timestamptz, request text,
      parent_seq int, state text)`;
}

/**
 * Within JSON, a request would be escaped a second time: a long one takes too long for that in one go. So it is a parameter of its own, also
 * where there is one step, as at the end of nearly all turns.
 */
const withoutOwn = (step: StepRow, _: number, { length }: readonly StepRow[]): StepRow =>
  length === 1 || Buffer.isBuffer(step.request) ? { ...step, request: null } : step;

function requestOf(steps: readonly StepRow[]): RawBuilder<unknown> {
  const [first] = steps;
  if (first && steps.length === 1) return sql`${first.request}::json`;
  const long = steps.flatMap(({ seq, request }) =>
    Buffer.isBuffer(request) ? [sql`when ${seq} then ${request}::json`] : [],
  );
  return long.length === 0 ? sql`request::json` : sql`case seq ${sql.join(long, sql` `)} else request::json end`;
}

/**
 * Stores steps, if the turn still holds its conversation. Returns false when another process has taken it over: then nothing is stored.
 * Nobody takes it over between the check and the commit, so whoever does sees the steps.
 */
export async function insertSteps(db: Kysely<DB>, turn: HeldTurn, steps: readonly StepRow[]): Promise<boolean> {
  const { workspaceId, turnId } = turn;
  if (steps.length === 0) return true;
  const statement = sql`with held as (select ${notDeletedByKey()} as is_kept from conversations where ${heldBy(turn)} for share)
    ${insertingSteps(workspaceId, turnId, steps, sql`(select is_kept from held)`)} where exists (select from held)`;
  const { numAffectedRows = 0n } = await withStepsPartition(db, turnId, () => statement.execute(db));
  return numAffectedRows > 0n;
}

/** The outcome of a tool call. */
export interface StepOutcome {
  status: 'done' | 'failed' | 'waiting';
  output: unknown;
  duration_ms: number;
}

const endingStep = compileOnce(
  (db, { workspaceId, conversationId, turnId, attempt, seq, status, output, durationMs }: HeldTurn & EndedStep) =>
    db
      .with('unflushed', (query) =>
        query.selectNoFrom(sql<string>`set_config('synchronous_commit', 'off', true)`.as('setting')),
      )
      .updateTable('turn_steps')
      .set({ status, output, duration_ms: durationMs })
      .where('workspace_id', '=', workspaceId)
      .where('turn_id', '=', turnId)
      .where('seq', '=', seq)
      .where('status', 'in', ['running', 'waiting'])
      .where(sql<boolean>`(select setting from unflushed) = 'off'`)
      .where(
        sql<boolean>`exists (select from conversations where ${heldBy({ workspaceId, conversationId, turnId, attempt })})`,
      ),
);

/** A step and its outcome; the output as JSON. */
interface EndedStep {
  seq: number;
  status: StepOutcome['status'];
  output: string;
  durationMs: number;
}

/**
 * Stores the outcome of a step that was stored as running, or as waiting. Whoever takes the turn over ends what runs; an outcome that comes
 * later changes nothing.
 *
 * Whoever reads the step sees the outcome at once, and a process that dies leaves it. Only PostgreSQL's own crash can lose it, until the next
 * statement of anybody is flushed: the one that ends the turn is (docs/decisions/0077-an-outcome-does-not-wait-for-the-disk.md).
 */
export async function endStep(
  db: Kysely<DB>,
  { workspaceId, conversationId, turnId, attempt }: HeldTurn,
  seq: number,
  { status, output, duration_ms: durationMs }: StepOutcome,
): Promise<void> {
  const ended = { seq, status, output: JSON.stringify(output), durationMs };
  await endingStep(db, { workspaceId, conversationId, turnId, attempt, ...ended });
}
