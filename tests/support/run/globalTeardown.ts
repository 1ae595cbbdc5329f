import { rm } from 'node:fs/promises';
import type { EmbeddedPostgres } from '../../../db/embedded.ts';

/** What the set-up hands to the tear-down; both run in the parent process of the test workers. */
export type TestCluster = typeof globalThis & {
  guildhallTestCluster?: { postgres: EmbeddedPostgres; folder: string };
};

export default async function tearDown(): Promise<void> {
  const cluster = (globalThis as TestCluster).guildhallTestCluster;
  if (!cluster) return;
  await cluster.postgres.stop();
  await rm(cluster.folder, { recursive: true, force: true });
}
