import { newId } from '../../../core/ids.ts';
import type { ClientStatus } from '../../../db/queries/clients/clients.ts';
import type { SeededWorkspace, TestDatabase } from '../db/database.ts';

/** A client with one user, straight in the database. */
export interface TestClient {
  clientId: string;
  userId: string;
  email: string;
}

/** Makes a client that is active, with one admin. */
export async function makeClient(
  { database }: Pick<TestDatabase, 'database'>,
  { workspaceId }: Pick<SeededWorkspace, 'workspaceId'>,
  {
    name,
    user = {},
    planId = null,
    status = 'active',
  }: {
    name?: string;
    user?: { email?: string; name?: string; onboardedAt?: Date | null };
    planId?: string | null;
    status?: ClientStatus;
  } = {},
): Promise<TestClient> {
  const [clientId, userId] = [newId(), newId()];
  const email = user.email ?? `${userId}@example.com`;
  const db = database.forWorkspace(workspaceId);
  const client = {
    workspace_id: workspaceId,
    id: clientId,
    name: name ?? `Client ${clientId}`,
    status,
    plan_id: planId,
  };
  await db.insertInto('clients').values(client).execute();
  await db
    .insertInto('client_users')
    .values({
      workspace_id: workspaceId,
      id: userId,
      client_id: clientId,
      email,
      name: user.name ?? 'Ada Example',
      role: 'admin',
      onboarded_at: user.onboardedAt ?? null,
    })
    .execute();
  return { clientId, userId, email };
}
