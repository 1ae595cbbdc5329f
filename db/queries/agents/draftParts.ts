import { type Kysely, sql } from 'kysely';
import { mapInTurns } from '../../../core/ownTurn.ts';
import type { DB } from '../../../generated/db.ts';
import { type LinkedRow, linkedRows } from './agentLinks.ts';
import type { VariableRow } from './agentVariables.ts';

/** What an agent's editable state has beside the agent's own row. */
export interface DraftParts {
  /** In their order. */
  variables: VariableRow[];
  /** With their targets; the one made last comes last. */
  links: LinkedRow[];
}

/** Rows that are read in one turn of the event loop: about a millisecond. An agent may have thousands of links. */
const PIECE = 250;

/** Rows as JSON has them: times are text. */
type InJson<Row> = { [Column in keyof Row]: Row[Column] extends Date ? string : Row[Column] };

/** The variables and links of an agent, as `selectVariables` and `selectLinks` return them, in one round trip. */
export async function findDraftParts(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<DraftParts> {
  const { rows } = await sql<{ variables: string | null; links: string | null }>`
    select json_agg(v order by v.place)::text as variables, null::text as links
    from (select v.*, row_number() over (order by v.sort_order, v.created_at, v.id) as place
          from agent_variables v where v.workspace_id = ${workspaceId} and v.agent_id = ${agentId}) v
    group by (v.place - 1) / ${sql.lit(PIECE)}
    union all
    select null, json_agg(l order by l.place)::text
    from (select l.*, row_number() over (order by l.seq) as place
          from (${linkedRows(workspaceId, agentId, null)}) l) l
    group by (l.place - 1) / ${sql.lit(PIECE)}`.execute(db);
  const pieces = await mapInTurns(rows, 1, (row) => ({
    variables: row.variables === null ? [] : variablesIn(row.variables),
    links: row.links === null ? [] : linksIn(row.links),
  }));
  // The pieces come in no particular order.
  return {
    variables: pieces
      .map(({ variables }) => variables)
      .filter(([first]) => first)
      .sort(([one], [other]) => (one?.place ?? 0) - (other?.place ?? 0))
      .flat()
      .map(({ place: _place, ...row }) => row),
    links: pieces
      .map(({ links }) => links)
      .filter(([first]) => first)
      .sort(([one], [other]) => (one?.seq ?? 0) - (other?.seq ?? 0))
      .flat(),
  };
}

function variablesIn(text: string): (VariableRow & { place: number })[] {
  const rows = JSON.parse(text) as (InJson<VariableRow> & { place: number })[];
  return rows.map((row) => ({ ...row, created_at: new Date(row.created_at), updated_at: new Date(row.updated_at) }));
}

function linksIn(text: string): LinkedRow[] {
  const rows = JSON.parse(text) as (InJson<LinkedRow> & { place?: number })[];
  return rows.map(({ place: _place, ...row }) => ({ ...row, created_at: new Date(row.created_at) }));
}
