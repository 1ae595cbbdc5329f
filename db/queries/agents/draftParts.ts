import { type Kysely, sql } from 'kysely';
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

/** Rows as JSON has them: times are text. */
type InJson<Row> = { [Column in keyof Row]: Row[Column] extends Date ? string : Row[Column] };

/** The variables and links of an agent, as `selectVariables` and `selectLinks` return them, in one round trip. */
export async function findDraftParts(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<DraftParts> {
  const { rows } = await sql<{ variables: InJson<VariableRow>[]; links: InJson<LinkedRow>[] }>`
    select (select coalesce(json_agg(v order by v.sort_order, v.created_at, v.id), '[]')
              from agent_variables v where v.workspace_id = ${workspaceId} and v.agent_id = ${agentId}) as variables,
           (select coalesce(json_agg(l order by l.seq), '[]')
              from (${linkedRows(workspaceId, agentId, null)}) l) as links`.execute(db);
  const { variables = [], links = [] } = rows[0] ?? {};
  return {
    variables: variables.map((row) => ({
      ...row,
      created_at: new Date(row.created_at),
      updated_at: new Date(row.updated_at),
    })),
    links: links.map((row) => ({ ...row, created_at: new Date(row.created_at) })),
  };
}
