import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { DB, TurnSteps } from '../../../generated/db.ts';
import { withStepsPartition } from './stepPartitions.ts';

/** A step of a turn, as it is stored. `input` and `output` are JSON that PostgreSQL takes: without NUL and lone surrogates. */
export type StepRow = Omit<Selectable<TurnSteps>, 'workspace_id' | 'turn_id'>;

/** SQL statement: inserts steps of a turn. Run it by `withStepsPartition`. */
export function insertingSteps(workspaceId: string, turnId: string, steps: readonly StepRow[]): RawBuilder<unknown> {
  return sql`insert into turn_steps (workspace_id, turn_id, seq, agent_id, depth, kind, name, provider, status, input, output,
      duration_ms, input_tokens, output_tokens, cost_usd, started_at)
    select ${workspaceId}, ${turnId}, seq, agent_id, depth, kind, name, provider, status, input, output,
      duration_ms, input_tokens, output_tokens, cost_usd, started_at
    from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as step (seq int, agent_id uuid, depth int, kind text, name text,
      provider text, status text, input jsonb, output jsonb, duration_ms int, input_tokens int, output_tokens int,
      cost_usd numeric, started_at timestamptz)`;
}

/** Stores steps. */
export async function insertSteps(
  db: Kysely<DB>,
  workspaceId: string,
  turnId: string,
  steps: readonly StepRow[],
): Promise<void> {
  await withStepsPartition(db, turnId, () => insertingSteps(workspaceId, turnId, steps).execute(db));
}

/** The outcome of a tool call. */
export interface StepOutcome {
  status: 'done' | 'failed' | 'waiting';
  output: unknown;
  duration_ms: number;
}

/** Stores the outcome of a step that was stored as running. */
export async function endStep(
  db: Kysely<DB>,
  workspaceId: string,
  turnId: string,
  seq: number,
  { status, output, duration_ms }: StepOutcome,
): Promise<void> {
  await db
    .updateTable('turn_steps')
    .set({ status, output: JSON.stringify(output), duration_ms })
    .where('workspace_id', '=', workspaceId)
    .where('turn_id', '=', turnId)
    .where('seq', '=', seq)
    .execute();
}
