import { randomBytes } from 'node:crypto';
import { fault } from '../../core/errors.ts';
import { insertHubLogo, removeUnusedLogo, updateLogoPurge } from '../../db/queries/hubs/hubLogos.ts';
import { type HubRow, lockHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { pictureKind } from '../../runtime/files/pictureKind.ts';
import { type LogoType, logoKey } from '../../runtime/files/publicFiles.ts';
import type { WorkspaceContext } from '../context.ts';
import { takeRoom } from '../workspaces/room.ts';

/** Longer than storing a file takes, retries included. */
const STORED_WITHIN_MS = 15 * 60_000;
/** 192 random bits: 32 characters of base64url. */
const RANDOM_BYTES = 24;

const COLUMNS = {
  horizontal: 'logo_horizontal_key',
  icon: 'logo_icon_key',
  email: 'logo_email_key',
  banner: 'logo_banner_key',
} as const satisfies Record<LogoType, keyof HubRow>;

/** A picture on the local disk. */
export interface Picture {
  path: string;
  sizeBytes: number;
}

/**
 * Makes a picture the logo of this type. The earlier file is removed once the new one is stored and shown; whatever ends the process in
 * between, the upkeep `purge-logos` removes what no hub shows. Throws UNSUPPORTED_MEDIA_TYPE, and RATE_LIMITED when the workspace has no
 * storage left.
 */
export async function replaceLogo(
  context: WorkspaceContext,
  type: LogoType,
  { path, sizeBytes }: Picture,
): Promise<HubRow> {
  const { db, workspaceId, runtime, clock } = context;
  const extension = await pictureKind(path);
  if (!extension) throw fault('UNSUPPORTED_MEDIA_TYPE', 'The file is not a PNG, JPEG, WebP or SVG picture.');
  const key = logoKey(workspaceId, type, randomBytes(RANDOM_BYTES).toString('base64url'), extension);
  const now = clock.now();
  await inTransaction(db, async (trx) => {
    await takeRoom(trx, workspaceId, null, { bytes: sizeBytes, now });
    const purge_at = new Date(now.getTime() + STORED_WITHIN_MS);
    await insertHubLogo(trx, { workspace_id: workspaceId, key, size_bytes: sizeBytes, created_at: now, purge_at });
  });
  try {
    await runtime.files.put(key, { path });
  } catch (error) {
    await updateLogoPurge(db, workspaceId, key, { purgeAt: now, now }).catch(() => undefined);
    await purge(context, key);
    throw error;
  }
  // When this fails, nobody knows whether the hub shows the file: the upkeep does, by the row.
  return await show(context, type, key);
}

/** Removes the logo of this type and its file. Without one nothing changes. */
export function dropLogo(context: WorkspaceContext, type: LogoType): Promise<HubRow> {
  return show(context, type, null);
}

/** Lets the hub show the file under `key` as this logo, and removes the one that it showed. */
async function show(context: WorkspaceContext, type: LogoType, key: string | null): Promise<HubRow> {
  const { db, workspaceId, clock } = context;
  const now = clock.now();
  const column = COLUMNS[type];
  const { hub, earlier } = await inTransaction(db, async (trx) => {
    const before = await lockHub(trx, workspaceId, now);
    const unused = before[column];
    if (key === unused) return { hub: before, earlier: null };
    if (key !== null && !(await updateLogoPurge(trx, workspaceId, key, { purgeAt: null, now })))
      throw new Error('The file was stored for too long, and is removed.');
    if (unused !== null) await updateLogoPurge(trx, workspaceId, unused, { purgeAt: now, now });
    // What the payment provider shows is not this picture any more.
    const isBranding = key !== null && (type === 'horizontal' || type === 'icon');
    const branding = isBranding ? { branding_synced_at: null } : {};
    return {
      hub: await updateHubRow(trx, workspaceId, { [column]: key, ...branding, updated_at: now }),
      earlier: unused,
    };
  });
  if (earlier !== null) await purge(context, earlier);
  return hub;
}

/** Removes a file that no hub shows, and its row. What fails now is done by the upkeep. */
async function purge({ db, workspaceId, runtime, clock }: WorkspaceContext, key: string): Promise<void> {
  try {
    await runtime.files.delete(key);
    await removeUnusedLogo(db, workspaceId, key, clock.now());
  } catch (error) {
    runtime.logger?.warn({ err: error, workspaceId }, 'the file of a logo is removed later');
  }
}
