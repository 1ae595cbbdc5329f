import type { Kysely } from 'kysely';
import { displayApiKey, hashApiKey, mintApiKey } from '../../core/apiKey.ts';
import { newId } from '../../core/ids.ts';
import { type ApiKeyRow, insertApiKey, revokeApiKey, selectApiKeys } from '../../db/queries/workspaces/apiKeys.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import type { DB } from '../../generated/db.ts';
import { type Command, CommandError, text, uuid } from './command.ts';
import { workspaceList } from './workspaceList.ts';

/** Makes a key for the workspace and stores its hash. The returned `apiKey` is the only copy. */
export async function issueKey(
  db: Kysely<DB>,
  workspaceId: string,
  name: string,
): Promise<ApiKeyRow & { apiKey: string }> {
  const apiKey = mintApiKey();
  const row = await insertApiKey(db, {
    id: newId(),
    workspaceId,
    name,
    hash: hashApiKey(apiKey),
    display: displayApiKey(apiKey),
  });
  return { ...row, apiKey };
}

function shown(row: ApiKeyRow) {
  return {
    apiKeyPublicId: row.id,
    workspacePublicId: row.workspace_id,
    name: row.name,
    display: row.display,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

/** API keys of workspaces. */
export const keyCommands: Record<string, Command> = {
  create: {
    usage: '--workspace ID [--name N]',
    words: 0,
    options: { workspace: { type: 'string' }, name: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const name = text(options.name, '--name', 200, 'Default');
      return async ({ system }) => {
        if (!(await findWorkspace(system, workspaceId))) throw new CommandError(`There is no workspace ${workspaceId}`);
        const { apiKey, ...row } = await issueKey(system, workspaceId, name);
        return {
          json: { apiKeyPublicId: row.id, workspacePublicId: workspaceId, name, apiKey },
          text: `key ${row.id}\n${apiKey}\nKeep this key: it is not shown again.`,
        };
      };
    },
  },
  list: workspaceList<ApiKeyRow>({
    select: ({ system }, workspaceId) => selectApiKeys(system, workspaceId),
    json: shown,
    heads: ['KEY', 'WORKSPACE', 'SHOWN AS', 'STATE', 'LAST USED', 'NAME'],
    cells: (row) => [
      row.id,
      row.workspace_id,
      row.display,
      row.revoked_at ? 'revoked' : 'valid',
      row.last_used_at?.toISOString() ?? 'never',
      row.name,
    ],
  }),
  revoke: {
    usage: 'KEYID',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'KEYID');
      return async ({ system }) => {
        const row = await revokeApiKey(system, id);
        if (!row) throw new CommandError(`There is no key ${id}`);
        return { json: shown(row), text: `key ${id} is revoked` };
      };
    },
  },
};
