import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../core/ids.ts';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import { findHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import type { BrandingImage } from '../../integrations/payments/provider.ts';
import { publicFile } from '../../runtime/files/publicFiles.ts';
import type { WorkspaceContext } from '../context.ts';
import { paymentsOf } from '../payments/paymentsOf.ts';

/**
 * Shows the hub's logos and colours on the pages of its payment provider. Logos that the provider does not take (WebP, SVG) are left out.
 * Throws PaymentProviderError.
 */
export async function passOnBranding(context: WorkspaceContext): Promise<void> {
  const { db, workspaceId, clock } = context;
  const hub = await findHub(db, workspaceId);
  const provider = hub && paymentsOf(context, hub);
  if (!hub || !provider) return;
  await provider.syncBranding(newId(), {
    name: hub.name,
    primaryColor: hub.primary_color,
    secondaryColor: hub.secondary_color,
    icon: await imageOf(context, hub.logo_icon_key),
    logo: await imageOf(context, hub.logo_horizontal_key),
  });
  await updateHubRow(db, workspaceId, { branding_synced_at: clock.now(), updated_at: hub.updated_at });
}

async function imageOf({ runtime }: WorkspaceContext, key: string | null): Promise<BrandingImage | null> {
  const type = key === null ? undefined : publicFile(key)?.mediaType;
  if (key === null || (type !== 'image/png' && type !== 'image/jpeg')) return null;
  const folder = await makeTemporaryFolder(runtime.temporaryDir);
  try {
    const path = join(folder, 'logo');
    await runtime.files.fetch(key, path);
    return { data: await readFile(path), type };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
