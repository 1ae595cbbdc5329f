import type { VersionRow } from '../../db/queries/agents/agentVersions.ts';
import type { components } from '../../generated/api.ts';

type Schemas = components['schemas'];

/** An external MCP server as it was linked when the version was published. */
export interface SnapshotExternalMcp {
  externalMcpPublicId: string;
  serverName: string;
  active: boolean;
  instanceMode: Schemas['InstanceMode'];
  requiresApproval: boolean;
}

/** A native MCP connection as it was linked when the version was published. */
export interface SnapshotNativeMcp {
  connectionPublicId: string;
  connectionName: string;
  instanceMode: Schemas['InstanceMode'];
}

/**
 * What a publication freezes: the version as the contract shows it, less what the version row itself holds, and the links that
 * the contract does not show. Versions published before those kinds of link existed have no such list.
 */
export type Snapshot = Omit<Schemas['AgentVersion'], 'versionNumber' | 'createdAt' | 'notes'> & {
  externalMcps?: SnapshotExternalMcp[];
  nativeMcps?: SnapshotNativeMcp[];
};

/** The snapshot that a version froze. */
export function snapshotOfVersion(row: VersionRow): Snapshot {
  return row.snapshot as unknown as Snapshot;
}
