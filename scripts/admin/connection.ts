import { newId } from '../../core/ids.ts';
import { insertConnection, selectConnections, softDeleteConnection } from '../../db/queries/tools/nativeConnections.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import { BUILTIN_TOOLKITS } from '../../integrations/toolkits/builtin/catalogue.ts';
import { type Command, CommandError, type Options, table, text, UsageError, uuid } from './command.ts';

const BUILTIN_SLUGS = BUILTIN_TOOLKITS.map(({ slug }) => slug);

/** A slug or id in the form that the registry uses. */
function plain(value: unknown, name: string, max: number): string {
  const given = text(value, name, max);
  if (!/^[A-Za-z0-9_-]+$/.test(given)) throw new UsageError(`${name} may have letters, digits, _ and - only`);
  return given;
}

/** The toolkit, its provider and the account that the options name. */
function target(options: Options): {
  provider: 'builtin' | 'composio';
  toolkit_slug: string;
  external_id: string | null;
} {
  const toolkit_slug = plain(options.toolkit, '--toolkit', 100);
  const external_id = options['external-id'] === undefined ? null : plain(options['external-id'], '--external-id', 200);
  const provider = options.provider ?? (external_id === null ? 'builtin' : 'composio');
  if (provider !== 'builtin' && provider !== 'composio') throw new UsageError('--provider must be builtin or composio');
  if (provider === 'composio' && external_id === null) {
    throw new UsageError('--external-id is missing: the id of the connected account at the registry');
  }
  if (provider === 'builtin' && external_id !== null)
    throw new UsageError('--external-id is not allowed for a built-in toolkit');
  if (provider === 'builtin' && !BUILTIN_SLUGS.includes(toolkit_slug)) {
    throw new UsageError(
      `--toolkit must be one of ${BUILTIN_SLUGS.join(', ')}; a toolkit of the registry needs --external-id`,
    );
  }
  return { provider, toolkit_slug, external_id };
}

/** Connections of a workspace to toolkits: the native MCPs that agents can be linked to. */
export const connectionCommands: Record<string, Command> = {
  add: {
    usage: '--workspace ID --toolkit SLUG [--name N] [--provider builtin|composio] [--external-id ID]',
    words: 0,
    options: {
      workspace: { type: 'string' },
      toolkit: { type: 'string' },
      name: { type: 'string' },
      provider: { type: 'string' },
      'external-id': { type: 'string' },
    },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const chosen = target(options);
      const usual = BUILTIN_TOOLKITS.find(({ slug }) => slug === chosen.toolkit_slug)?.name ?? chosen.toolkit_slug;
      const row = { workspace_id: workspaceId, id: newId(), name: text(options.name, '--name', 255, usual), ...chosen };
      return async (database) => {
        if (!(await findWorkspace(database.system, workspaceId))) {
          throw new CommandError(`There is no workspace ${workspaceId}`);
        }
        const now = new Date();
        try {
          const made = { ...row, created_at: now, updated_at: now };
          await insertConnection(database.forWorkspace(workspaceId), made);
        } catch (error) {
          if ((error as { constraint?: string }).constraint !== 'native_connections_account_key') throw error;
          throw new CommandError(`The workspace already has this connection to ${row.toolkit_slug}`);
        }
        return {
          json: { ...shown(row), workspacePublicId: workspaceId },
          text: `connection ${row.id} (${row.provider} ${row.toolkit_slug}) is added`,
        };
      };
    },
  },
  list: {
    usage: '--workspace ID',
    words: 0,
    options: { workspace: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      return async (database) => {
        const rows = await selectConnections(database.forWorkspace(workspaceId), workspaceId);
        return {
          json: rows.map((row) => ({ ...shown(row), createdAt: row.created_at })),
          text: table(
            ['CONNECTION', 'PROVIDER', 'TOOLKIT', 'ACCOUNT', 'NAME'],
            rows.map((row) => [row.id, row.provider, row.toolkit_slug, row.external_id ?? '', row.name]),
          ),
        };
      };
    },
  },
  remove: {
    usage: '--workspace ID CONNECTIONID',
    words: 1,
    options: { workspace: { type: 'string' } },
    prepare([word], options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const id = uuid(word, 'CONNECTIONID');
      return async (database) => {
        const context = {
          db: database.forWorkspace(workspaceId),
          workspaceId,
          clock: { now: () => new Date() },
        };
        const removed = await deleteTarget(context, 'native_mcp', id, ({ trx, now }) =>
          softDeleteConnection(trx, workspaceId, id, now),
        );
        if (!removed) throw new CommandError(`Workspace ${workspaceId} has no connection ${id}`);
        return { json: { connectionPublicId: id, removed: true }, text: `connection ${id} is removed` };
      };
    },
  },
};

function shown(row: { id: string; name: string; provider: string; toolkit_slug: string; external_id: string | null }) {
  return {
    connectionPublicId: row.id,
    name: row.name,
    provider: row.provider,
    toolkitSlug: row.toolkit_slug,
    externalId: row.external_id,
  };
}
