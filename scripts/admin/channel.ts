import type { ApiError } from '../../core/errors.ts';
import type { Database } from '../../db/connect.ts';
import {
  type ChannelConnectionRow,
  findConnectionAnywhere,
  lockChannelConnection,
  selectConnectionsAnywhere,
} from '../../db/queries/channels/connections.ts';
import { countFailedInbound } from '../../db/queries/channels/replay.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  hasChannelAddress,
  isReachedById,
  rotateChannelAddress,
  rotateIdentity,
  webhookPath,
} from '../../domain/channels/addresses.ts';
import { type ChannelSecretsContext, channelAccount, storeSettings } from '../../domain/channels/connections.ts';
import { noteChecked } from '../../domain/channels/health.ts';
import type { ChannelProblem } from '../../integrations/channels/provider.ts';
import { providerOf } from '../../integrations/channels/providers.ts';
import { readConfig } from '../../server/config.ts';
import { replayCommands } from './channelReplay.ts';
import { type Command, CommandError, UsageError, uuid } from './command.ts';
import { fromEnv } from './fromEnv.ts';
import { originOf } from './origin.ts';
import { printable } from './printable.ts';
import { jsonObject, secretsOf } from './secrets.ts';
import { workspaceList } from './workspaceList.ts';

/** The provider has this long to say how an account is. */
const CHECK_MS = 15_000;

function shown(row: ChannelConnectionRow) {
  return {
    connectionPublicId: row.id,
    workspacePublicId: row.workspace_id,
    agentPublicId: row.agent_id,
    channelType: row.channel_type,
    isActive: row.is_active,
    isConfigured: row.is_configured,
    instanceMode: row.instance_mode,
    account: row.provider_account,
    config: row.config,
    lastWebhookAt: row.last_inbound_at,
    problem: row.problem_code && { code: row.problem_code, message: row.problem_message, since: row.problem_at },
  };
}

/** Runs a change of a connection, whichever workspace it is of, while no other is made. Throws CommandError. */
async function change<Result>(
  database: Database,
  id: string,
  secrets: ChannelSecretsContext['runtime']['secrets'],
  work: (context: ChannelSecretsContext, row: ChannelConnectionRow) => Promise<Result>,
): Promise<Result> {
  const found = await findConnectionAnywhere(database.system, id);
  if (!found) throw new CommandError(`There is no channel connection ${id}`);
  const workspaceId = found.workspace_id;
  return inTransaction(database.forWorkspace(workspaceId), async (trx) => {
    const row = await lockChannelConnection(trx, workspaceId, id);
    if (!row) throw new CommandError(`There is no channel connection ${id}`);
    const clock = { now: () => new Date() };
    return work({ db: trx, workspaceId, clock, runtime: { secrets } }, row);
  }).catch((error: unknown) => {
    if ((error as { constraint?: string }).constraint === 'channel_connections_account_key')
      throw new CommandError('Another connection of the workspace has this account');
    const known = error as Partial<ApiError>;
    if (!known.code || !known.details) throw error;
    const details = known.details.map(
      ({ path, message }) =>
        `${path.replace(/^\/body\/(channelSpecificConfig)?/, (_, config) => (config ? 'config' : ''))}: ${message}`,
    );
    throw new CommandError([known.message, ...details].join('\n  '));
  });
}

function boolean(value: unknown, name: string): boolean | undefined {
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false') throw new UsageError(`${name} must be true or false`);
  return value === 'true';
}

/** Channel connections of all workspaces: settings that the API does not take, addresses, and how the accounts are. */
export const channelCommands: Record<string, Command> = {
  list: workspaceList({
    async select({ system }, workspaceId) {
      const rows = await selectConnectionsAnywhere(system, workspaceId);
      const failed = await countFailedInbound(system, workspaceId);
      return rows.map((row) => ({ row, failedMessages: failed.get(row.id) ?? 0 }));
    },
    json: ({ row, failedMessages }) => ({ ...shown(row), failedMessages }),
    heads: ['CONNECTION', 'WORKSPACE', 'AGENT', 'TYPE', 'STATE', 'ACCOUNT', 'LAST WEBHOOK', 'FAILED', 'HEALTH'],
    cells: ({ row, failedMessages }) => [
      row.id,
      row.workspace_id,
      row.agent_id,
      row.channel_type,
      stateOf(row),
      row.provider_account ?? '',
      row.last_inbound_at?.toISOString() ?? (row.channel_type === 'web_chat' ? '' : 'never'),
      String(failedMessages),
      healthOf(row),
    ],
  }),
  configure: {
    usage:
      'CONNECTION [--config JSON|FILE|-] [--credentials JSON|FILE|-] [--active true|false]\n' +
      '      whatsapp: {phoneNumberId, businessAccountId?, templateName?, templateLanguage?} and {accessToken, appSecret, verifyToken}\n' +
      '      z_api: {instanceId} and {instanceToken, clientToken}; web_chat: {title?, welcomeMessage?, primaryColor?, allowedOrigins?}',
    words: 1,
    options: { config: { type: 'string' }, credentials: { type: 'string' }, active: { type: 'string' } },
    prepare([word], options) {
      const id = uuid(word, 'CONNECTION');
      const isActive = boolean(options.active, '--active');
      const given = {
        ...(options.config === undefined ? {} : { channelSpecificConfig: jsonObject(options.config, '--config') }),
        ...(options.credentials === undefined ? {} : { credentials: jsonObject(options.credentials, '--credentials') }),
        ...(isActive === undefined ? {} : { isActive }),
      };
      if (Object.keys(given).length === 0) throw new UsageError('Give --config, --credentials or --active');
      return async (database, env) =>
        change(database, id, secretsOf(env), async (context, row) => {
          const changed = await storeSettings(context, row, given);
          const isFirst = !isReachedById(row) && !(await hasChannelAddress(context, row));
          const webhookUrl = isReachedById(row)
            ? row.channel_type === 'whatsapp' && originOf(env) + webhookPath(row.id)
            : isFirst && originOf(env) + webhookPath(await rotateChannelAddress(context, row));
          const lines = [`connection ${id} (${row.channel_type}) is ${stateOf(changed)}`];
          if (webhookUrl) lines.push(`webhook ${webhookUrl}`);
          if (isFirst) lines.push('Keep this address: it is not shown again.');
          return { json: { ...shown(changed), ...(webhookUrl ? { webhookUrl } : {}) }, text: lines.join('\n') };
        });
    },
  },
  check: {
    usage: 'CONNECTION   (asks the provider how the account is)',
    words: 1,
    options: {},
    prepare([word]) {
      const id = uuid(word, 'CONNECTION');
      return async (database, env) => {
        const row = await findConnectionAnywhere(database.system, id);
        if (!row) throw new CommandError(`There is no channel connection ${id}`);
        const problem = await askProvider(row, env);
        await noteChecked(database.forWorkspace(row.workspace_id), row, problem, new Date());
        return {
          json: { connectionPublicId: id, workspacePublicId: row.workspace_id, problem },
          text: problem ? printable(`${problem.code}: ${problem.message}`) : 'ok',
        };
      };
    },
  },
  rotate: {
    usage: 'CONNECTION [--end-now]   (z_api: a new webhook address; web_chat: a new secret for identify)',
    words: 1,
    options: { 'end-now': { type: 'boolean', default: false } },
    prepare([word], options) {
      const id = uuid(word, 'CONNECTION');
      const endNow = options['end-now'] === true;
      const until = endNow ? 'The one before it has ended.' : 'The one before it works for a day more.';
      return async (database, env) =>
        change(database, id, secretsOf(env), async (context, row) => {
          const common = { connectionPublicId: id, workspacePublicId: row.workspace_id };
          if (row.channel_type === 'z_api') {
            const webhookUrl = originOf(env) + webhookPath(await rotateChannelAddress(context, row, { endNow }));
            const text = `webhook ${webhookUrl}\nKeep this address: it is not shown again. ${until}`;
            return { json: { ...common, webhookUrl }, text };
          }
          if (row.channel_type === 'web_chat') {
            const identitySecret = await rotateIdentity(context, row, { endNow });
            const text = `secret ${identitySecret}\nKeep this secret: it is not shown again. ${until}`;
            return { json: { ...common, identitySecret }, text };
          }
          throw new CommandError(
            'A connection to whatsapp has no secret of its own: change its app secret at Meta, and configure it',
          );
        });
    },
  },
  ...replayCommands,
};

/** Asks the provider of a connection how the account is; null when all is well. Throws CommandError. */
async function askProvider(row: ChannelConnectionRow, env: NodeJS.ProcessEnv): Promise<ChannelProblem | null> {
  const { allowPrivateNetwork, channels } = fromEnv(env, readConfig);
  const provider = providerOf(row.channel_type, { ...channels, allowPrivateNetwork, clock: { now: () => new Date() } });
  if (!provider?.checkHealth)
    throw new CommandError(`A connection to ${row.channel_type} has no provider that can be asked`);
  if (!row.is_configured) throw new CommandError('The connection is not configured');
  try {
    return await provider.checkHealth(channelAccount(secretsOf(env), row), AbortSignal.timeout(CHECK_MS));
  } catch (error) {
    const reason = Error.isError(error) ? error.message : String(error);
    throw new CommandError(`The provider could not be asked: ${reason}`);
  }
}

function stateOf({ is_active, is_configured }: ChannelConnectionRow): string {
  if (!is_configured) return 'not configured';
  return is_active ? 'active' : 'off';
}

function healthOf({ problem_code, problem_message, problem_at }: ChannelConnectionRow): string {
  if (problem_code === null) return 'ok';
  return printable(`${problem_code} since ${problem_at?.toISOString()}: ${problem_message ?? ''}`);
}
