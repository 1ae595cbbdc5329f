import type { Database } from '../../db/connect.ts';
import { type Command, optionalUuid, table } from './command.ts';

/** A list of what all workspaces have, or one of them. */
export interface WorkspaceList<Row> {
  select(database: Database, workspaceId: string | undefined): Promise<readonly Row[]>;
  json(row: Row): object;
  /** Heads of the columns, for people. */
  heads: string[];
  cells(row: Row): string[];
}

/** The command `list [--workspace ID]`. */
export function workspaceList<Row>({ select, json, heads, cells }: WorkspaceList<Row>): Command {
  return {
    usage: '[--workspace ID]',
    words: 0,
    options: { workspace: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = optionalUuid(options.workspace, '--workspace');
      return async (database) => {
        const rows = await select(database, workspaceId);
        return { json: rows.map(json), text: table(heads, rows.map(cells)) };
      };
    },
  };
}
