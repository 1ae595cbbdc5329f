import { domainNameOf } from '../../core/domainName.ts';
import { NameResolver } from '../../core/outgoing/names.ts';
import type { Database } from '../../db/connect.ts';
import {
  findHubName,
  type HubNameRow,
  insertHubName,
  removeHubDomain,
  selectHubDomains,
  verifyHubDomain,
} from '../../db/queries/hubs/hubNames.ts';
import { ensureHub } from '../../db/queries/hubs/hubs.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { challengeOf, isProven, newDomainToken } from '../../domain/hubs/challenge.ts';
import { hubDomainOf, nameServersOf } from '../../server/config.ts';
import { type Command, CommandError, table, UsageError, uuid } from './command.ts';
import { originOf } from './origin.ts';

const WORKSPACE = { workspace: { type: 'string' } } as const;

function domain(value: unknown): string {
  const name = typeof value === 'string' ? domainNameOf(value) : undefined;
  if (!name) throw new UsageError('DOMAIN must be a domain such as agents.example.com');
  return name;
}

function shown(row: Pick<HubNameRow, 'name' | 'workspace_id' | 'token' | 'verified_at'>) {
  const { record, value } = challengeOf(row.name, row.token ?? '');
  const isVerified = row.verified_at !== null;
  const json = { domain: row.name, workspacePublicId: row.workspace_id, isVerified, record, value };
  const todo = `Set this record, and then run: hub domain verify --workspace ${row.workspace_id} ${row.name}\n\n${record}  TXT  "${value}"`;
  return { json, text: isVerified ? `${row.name} is verified` : `${row.name} is not verified yet. ${todo}` };
}

/** Refuses domains that the installation itself is at: they lead to hubs by their subdomains, or to the service. */
function refuseOwn(name: string, env: NodeJS.ProcessEnv): void {
  const hubDomain = hubDomainOf(env);
  if (hubDomain !== undefined && `.${name}`.endsWith(`.${hubDomain}`))
    throw new CommandError(`${name} belongs to GUILDHALL_HUB_DOMAIN: choose a subdomain with updateHubDomain`);
  if (new URL(originOf(env)).hostname === name) throw new CommandError(`${name} is the address of the service itself`);
}

async function ownRow(database: Database, workspaceId: string, name: string): Promise<HubNameRow & { token: string }> {
  const row = await findHubName(database.keys, name);
  if (row?.workspace_id !== workspaceId || row.token === null)
    throw new CommandError(`The hub of workspace ${workspaceId} has no domain ${name}: add it first`);
  return { ...row, token: row.token };
}

const add: Command = {
  usage: '--workspace ID DOMAIN',
  words: 1,
  options: WORKSPACE,
  prepare([word], options) {
    const workspaceId = uuid(options.workspace, '--workspace');
    const name = domain(word);
    return async (database, env) => {
      refuseOwn(name, env);
      if (!(await findWorkspace(database.system, workspaceId)))
        throw new CommandError(`There is no workspace ${workspaceId}`);
      const known = await findHubName(database.keys, name);
      if (known?.workspace_id === workspaceId) return shown(known);
      if (known) {
        const other = known.workspace_id;
        // Whoever adds a domain first has no right to it: only whoever proves it has.
        if (!(await removeHubDomain(database.forWorkspace(other), other, name, { unverified: true })))
          throw new CommandError(`${name} is verified for the hub of workspace ${other}: remove it there first`);
      }
      const db = database.forWorkspace(workspaceId);
      await ensureHub(db, workspaceId);
      const row = { name, workspace_id: workspaceId, kind: 'domain' as const, token: newDomainToken() };
      await insertHubName(db, row);
      return shown({ ...row, verified_at: null });
    };
  },
};

const verify: Command = {
  usage: '--workspace ID DOMAIN',
  words: 1,
  options: WORKSPACE,
  prepare([word], options) {
    const workspaceId = uuid(options.workspace, '--workspace');
    const name = domain(word);
    return async (database, env) => {
      const row = await ownRow(database, workspaceId, name);
      const challenge = challengeOf(name, row.token);
      if (!(await isProven(new NameResolver({ servers: nameServersOf(env) }), challenge)))
        throw new CommandError(`There is no TXT record ${challenge.record} that says ${challenge.value}`);
      const now = row.verified_at ?? new Date();
      if (!(await verifyHubDomain(database.forWorkspace(workspaceId), workspaceId, { name, token: row.token, now })))
        throw new CommandError(`${name} was taken from the hub meanwhile`);
      return shown({ ...row, verified_at: now });
    };
  },
};

const remove: Command = {
  usage: '--workspace ID DOMAIN',
  words: 1,
  options: WORKSPACE,
  prepare([word], options) {
    const workspaceId = uuid(options.workspace, '--workspace');
    const name = domain(word);
    return async (database) => {
      await ownRow(database, workspaceId, name);
      await removeHubDomain(database.forWorkspace(workspaceId), workspaceId, name);
      return { json: { domain: name }, text: `${name} leads to no hub any more` };
    };
  },
};

const list: Command = {
  usage: '--workspace ID',
  words: 0,
  options: WORKSPACE,
  prepare(_words, options) {
    const workspaceId = uuid(options.workspace, '--workspace');
    return async (database) => {
      const rows = await selectHubDomains(database.forWorkspace(workspaceId), workspaceId);
      const lines = rows.map((row) => [row.name, row.verified_at?.toISOString() ?? 'not yet', row.token ?? '']);
      return { json: rows.map((row) => shown(row).json), text: table(['DOMAIN', 'VERIFIED', 'TXT RECORD'], lines) };
    };
  },
};

/** The custom domains of a hub. */
export const hubDomainCommands: Record<string, Command> = {
  'domain add': add,
  'domain verify': verify,
  'domain list': list,
  'domain remove': remove,
};
