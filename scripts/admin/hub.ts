import { ensureHub, type HubRow, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { hubUrlOf } from '../../domain/hubs/hubUrl.ts';
import { hubDomainOf } from '../../server/config.ts';
import { type Command, CommandError, UsageError, uuid } from './command.ts';
import { hubDomainCommands } from './hubDomain.ts';
import { hubPaymentsCommands } from './hubPayments.ts';
import { hubTrial } from './hubTrial.ts';
import { originOf } from './origin.ts';
import { printable } from './printable.ts';

const WORKSPACE = { workspace: { type: 'string' } } as const;

/** BCP 47 tags are shorter than this in practice; the column holds no more. */
const MAX_LOCALE = 35;

function locale(value: unknown): string {
  if (typeof value !== 'string') throw new UsageError('--locale is missing');
  try {
    const [tag = ''] = Intl.getCanonicalLocales(value);
    if (tag.length <= MAX_LOCALE && Intl.NumberFormat.supportedLocalesOf(tag).length === 1) return tag;
  } catch {
    // Not a tag at all.
  }
  throw new UsageError('--locale must be a language tag such as en-US or de-DE');
}

function shown(row: HubRow, env: NodeJS.ProcessEnv) {
  const settings = { publicUrl: originOf(env), hubDomain: hubDomainOf(env) };
  const hubUrl = hubUrlOf(settings, row.subdomain);
  const { workspace_id: workspacePublicId, id: publicId, name, access_type: accessType, subdomain } = row;
  return {
    json: { workspacePublicId, publicId, name, accessType, subdomain, hubUrl, locale: row.locale },
    text: [
      `hub ${publicId} of workspace ${workspacePublicId}`,
      `name     ${printable(name)}`,
      `access   ${accessType}`,
      `address  ${hubUrl ?? 'none: it has no subdomain yet'}`,
      `locale   ${row.locale}`,
    ].join('\n'),
  };
}

/** The hub of a workspace, and settings of it that the API does not offer. */
export const hubCommands: Record<string, Command> = {
  ...hubDomainCommands,
  show: {
    usage: '--workspace ID',
    words: 0,
    options: WORKSPACE,
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      return async (database, env) => {
        if (!(await findWorkspace(database.system, workspaceId)))
          throw new CommandError(`There is no workspace ${workspaceId}`);
        return shown(await ensureHub(database.forWorkspace(workspaceId), workspaceId), env);
      };
    },
  },
  set: {
    usage: '--workspace ID --locale TAG',
    words: 0,
    options: { ...WORKSPACE, locale: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const change = { locale: locale(options.locale) };
      return async (database, env) => {
        if (!(await findWorkspace(database.system, workspaceId)))
          throw new CommandError(`There is no workspace ${workspaceId}`);
        const db = database.forWorkspace(workspaceId);
        await ensureHub(db, workspaceId);
        return shown(await updateHubRow(db, workspaceId, { ...change, updated_at: new Date() }), env);
      };
    },
  },
  trial: hubTrial,
  ...hubPaymentsCommands,
};
