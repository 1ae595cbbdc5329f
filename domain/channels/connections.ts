import type { Transaction, Updateable } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { addressHash } from '../../core/publicAddress.ts';
import type { SecretBox } from '../../core/secrets.ts';
import { agentExists, lockAgent } from '../../db/queries/agents/agents.ts';
import {
  type ChannelConnectionRow,
  endConversationsOfConnection,
  insertChannelConnection,
  lockChannelConnection,
  selectConnectionsOfAgent,
  softDeleteChannelConnection,
  updateChannelConnectionRow,
} from '../../db/queries/channels/connections.ts';
import { insertPublicAddress, removePublicAddresses } from '../../db/queries/workspaces/publicAddresses.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ChannelConnections, DB } from '../../generated/db.ts';
import type { ChannelAccount } from '../../integrations/channels/provider.ts';
import { type ChannelType, findChannelType } from '../../integrations/channels/types.ts';
import type { WorkspaceContext } from '../context.ts';
import { openChannelCredentials, sealChannelCredentials } from './credentials.ts';
import { checkConnectionPart } from './validate.ts';

/** What the rules of channel connections need from their caller. */
export type ChannelContext = Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>;

/** As `ChannelContext`, where credentials are read or stored. */
export type ChannelSecretsContext = ChannelContext & { runtime: { secrets: SecretBox } };

/** Fields to change; an absent one stays as it is, and null clears. */
export interface ConnectionChange {
  channelSpecificConfig?: Record<string, unknown> | null;
  credentials?: Record<string, unknown> | null;
  isActive?: boolean;
}

/** The type of a connection. */
export function typeOf(row: Pick<ChannelConnectionRow, 'channel_type'>): ChannelType {
  const type = findChannelType(row.channel_type);
  if (!type) throw new Error(`No channel type is called ${row.channel_type}.`);
  return type;
}

/** The agent's connections, newest first. Throws AGENT_NOT_FOUND. */
export async function listConnections(
  { db, workspaceId }: Pick<ChannelContext, 'db' | 'workspaceId'>,
  agentId: string,
): Promise<ChannelConnectionRow[]> {
  const rows = await selectConnectionsOfAgent(db, workspaceId, agentId);
  if (rows.length === 0 && !(await agentExists(db, workspaceId, agentId))) throw fault('AGENT_NOT_FOUND');
  return rows;
}

/** The agent's connection that `matches`. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND. */
export async function findConnectionOfAgent(
  context: Pick<ChannelContext, 'db' | 'workspaceId'>,
  agentId: string,
  matches: (row: ChannelConnectionRow) => boolean,
): Promise<ChannelConnectionRow> {
  const row = (await listConnections(context, agentId)).find(matches);
  if (!row) throw fault('CHANNEL_CONNECTION_NOT_FOUND');
  return row;
}

/**
 * Connects an agent to a channel, not configured yet. Throws INVALID_CHANNEL_TYPE, AGENT_NOT_FOUND, and CHANNEL_ALREADY_CONNECTED by
 * channel_connections_type_key (db/errors.ts).
 */
export async function connectAgent(
  { db, workspaceId, clock }: ChannelContext,
  agentId: string,
  { channelType, isActive = true }: { channelType: string; isActive?: boolean | undefined },
): Promise<ChannelConnectionRow> {
  const type = findChannelType(channelType);
  if (!type) throw fault('INVALID_CHANNEL_TYPE');
  const id = newId();
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    // With the lock of a change: an agent that is deleted meanwhile would keep a connection that nobody can delete.
    if (!(await lockAgent(trx, workspaceId, agentId))) throw fault('AGENT_NOT_FOUND');
    const row = await insertChannelConnection(trx, {
      workspace_id: workspaceId,
      id,
      agent_id: agentId,
      channel_type: type.type as ChannelConnectionRow['channel_type'],
      is_active: isActive,
      created_at: now,
      updated_at: now,
    });
    // What Z-API sends has no signature: its address is a secret that is made and shown by `admin channel rotate`.
    if (type.type !== 'z_api') {
      const address_hash = addressHash(id);
      const address = {
        address_hash,
        workspace_id: workspaceId,
        kind: 'channel' as const,
        target_id: id,
        created_at: now,
      };
      await insertPublicAddress(trx, address);
    }
    return row;
  });
}

/** Runs a change of an agent's connection while no other is made. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND. */
async function changeConnection<Result>(
  { db, workspaceId }: ChannelContext,
  agentId: string,
  id: string,
  change: (row: ChannelConnectionRow, trx: Transaction<DB>) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    const row = await lockChannelConnection(trx, workspaceId, id);
    if (row && row.agent_id === agentId.toLowerCase()) return change(row, trx);
    throw fault((await agentExists(trx, workspaceId, agentId)) ? 'CHANNEL_CONNECTION_NOT_FOUND' : 'AGENT_NOT_FOUND');
  });
}

/**
 * Configures a connection for the API. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND, CHANNEL_CONFIG_NOT_ALLOWED_VIA_API for
 * settings of a type that only an operator sets, and the errors of `storeSettings`.
 */
export async function configureConnection(
  context: ChannelSecretsContext,
  agentId: string,
  id: string,
  change: ConnectionChange,
): Promise<ChannelConnectionRow> {
  return changeConnection(context, agentId, id, async (row, trx) => {
    const sets = change.channelSpecificConfig !== undefined || change.credentials !== undefined;
    if (sets && !typeOf(row).supports.configuration) throw fault('CHANNEL_CONFIG_NOT_ALLOWED_VIA_API');
    return storeSettings({ ...context, db: trx }, row, change);
  });
}

/**
 * Changes the settings of a connection that the caller has locked. Throws INVALID_CHANNEL_CONFIG, INVALID_CHANNEL_CREDENTIALS, and
 * ZAPI_INSTANCE_ID_ALREADY_USED by channel_connections_account_key (db/errors.ts).
 */
export async function storeSettings(
  { db, workspaceId, clock, runtime }: ChannelSecretsContext,
  row: ChannelConnectionRow,
  { channelSpecificConfig: config, credentials, isActive }: ConnectionChange,
): Promise<ChannelConnectionRow> {
  const type = typeOf(row);
  const columns: Updateable<ChannelConnections> = {};
  let hasConfig = row.is_configured || Object.keys(row.config).length > 0;
  if (config !== undefined) {
    if (config !== null) checkConnectionPart(type, 'channelSpecificConfig', config);
    columns.config = JSON.stringify(config ?? {});
    columns.provider_account = config && accountOf(config);
    hasConfig = config !== null;
  }
  // The secret of a web chat is not the caller's to clear: the type takes no credentials.
  if (credentials !== undefined && (credentials !== null || takesCredentials(type))) {
    if (credentials !== null) checkConnectionPart(type, 'credentials', credentials);
    columns.credentials = sealChannelCredentials(runtime.secrets, workspaceId, row.id, credentials);
  }
  if (isActive !== undefined) columns.is_active = isActive;
  if (Object.keys(columns).length === 0) return row;
  const sealed = columns.credentials === undefined ? row.credentials : columns.credentials;
  columns.is_configured = hasConfig && (sealed !== null || !takesCredentials(type));
  // What was wrong with the account before may be mended by what is new.
  const forgotten = { problem_code: null, problem_message: null, problem_at: null };
  const mended = config !== undefined || credentials !== undefined ? forgotten : {};
  return updateChannelConnectionRow(db, workspaceId, row.id, { ...columns, ...mended, updated_at: clock.now() });
}

/** Whether connections of this type need credentials that somebody gives them. */
function takesCredentials({ type }: ChannelType): boolean {
  return type !== 'web_chat';
}

/** The account at the provider that a configuration names; null for a type without one. */
function accountOf({ instanceId, phoneNumberId }: Record<string, unknown>): string | null {
  const account = instanceId ?? phoneNumberId;
  return typeof account === 'string' ? account : null;
}

/**
 * Changes the instance mode. A new mode resets the channel: its open conversations end, so that each person's next message begins a new
 * one. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND, CONFIRMATION_REQUIRED.
 */
export async function changeChannelMode(
  context: ChannelContext,
  agentId: string,
  id: string,
  { mode, confirm = false }: { mode: ChannelConnectionRow['instance_mode']; confirm?: boolean | undefined },
): Promise<ChannelConnectionRow> {
  const { workspaceId, clock } = context;
  return changeConnection(context, agentId, id, async (row, trx) => {
    if (row.instance_mode === mode) return row;
    if (!confirm) throw fault('CONFIRMATION_REQUIRED');
    await endConversationsOfConnection(trx, workspaceId, row.id);
    return updateChannelConnectionRow(trx, workspaceId, row.id, { instance_mode: mode, updated_at: clock.now() });
  });
}

/** Disconnects an agent from a channel: its address stops working at once. Throws AGENT_NOT_FOUND, CHANNEL_CONNECTION_NOT_FOUND. */
export async function disconnectAgent(context: ChannelContext, agentId: string, id: string): Promise<void> {
  const { workspaceId, clock } = context;
  await changeConnection(context, agentId, id, async (row, trx) => {
    await softDeleteChannelConnection(trx, workspaceId, row.id, clock.now());
    await removePublicAddresses(trx, workspaceId, row.id);
  });
}

/** A connection as its provider needs it, with its credentials in the clear. Throws SecretUnreadable. */
export function channelAccount(secrets: SecretBox, row: ChannelConnectionRow): ChannelAccount {
  const { workspace_id: workspaceId, id: connectionId, config } = row;
  return {
    workspaceId,
    connectionId,
    config: config as Record<string, unknown>,
    credentials: openChannelCredentials(secrets, row) ?? {},
  };
}
