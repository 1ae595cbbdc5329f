import type { Kysely } from 'kysely';
import { addressHash, newAddressSecret } from '../../core/publicAddress.ts';
import type { AutomationRow } from '../../db/queries/automations/automations.ts';
import {
  insertPublicAddress,
  removePublicAddresses,
  updatePublicAddressEnd,
} from '../../db/queries/workspaces/publicAddresses.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import { HIDDEN } from '../../runtime/tools/secrets/secrets.ts';
import { isBuiltinTrigger } from './triggers.ts';

/** An address that was replaced works for a day, so that its senders can be given the new one. */
const REPLACED_MS = 86_400_000;

/** Whether requests to an address of its own start the automation: any sender's, or those of a trigger that the service itself serves. */
export function hasAutomationAddress({
  trigger_mode,
  trigger_slug,
}: Pick<AutomationRow, 'trigger_mode' | 'trigger_slug'>): boolean {
  return trigger_mode === 'webhook_url' || (trigger_mode === 'webhook' && isBuiltinTrigger(trigger_slug));
}

/** The address of an automation as the API shows it; without its secret when that is not known any more. */
export function webhookUrl(publicUrl: string, secret: string = HIDDEN): string {
  return `${publicUrl}/hooks/automations/${secret}`;
}

/** Gives an automation an address and returns its secret, which nobody can read again. */
export async function makeAddress(
  db: Kysely<DB>,
  { workspace_id, id }: Pick<AutomationRow, 'workspace_id' | 'id'>,
  now: Date,
): Promise<string> {
  const secret = newAddressSecret();
  const address = { address_hash: addressHash(secret), workspace_id, kind: 'automation', target_id: id };
  await insertPublicAddress(db, { ...address, created_at: now });
  return secret;
}

/** Takes all addresses of an automation away. They stop working at once. */
export function endAddresses(
  db: Kysely<DB>,
  { workspace_id, id }: Pick<AutomationRow, 'workspace_id' | 'id'>,
): Promise<void> {
  return removePublicAddresses(db, workspace_id, id);
}

/** Gives an automation a new address and returns its secret. The ones that it had work for a day more. */
export function rotateAutomationAddress(
  db: Kysely<DB>,
  automation: Pick<AutomationRow, 'workspace_id' | 'id'>,
  now: Date,
): Promise<string> {
  return inTransaction(db, async (trx) => {
    const until = new Date(now.getTime() + REPLACED_MS);
    await updatePublicAddressEnd(trx, automation.workspace_id, automation.id, until);
    return makeAddress(trx, automation, now);
  });
}
