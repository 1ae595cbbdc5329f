import type { VersionRow } from '../../db/queries/agents/agentVersions.ts';
import type { components } from '../../generated/api.ts';
import { snapshotOfVersion } from '../../runtime/resources/snapshot.ts';

/** The version as the contract shows it: some kinds of link are frozen and not shown. */
export function versionBody(row: VersionRow): components['schemas']['AgentVersion'] {
  const { externalMcps: _external, nativeMcps: _native, ...snapshot } = snapshotOfVersion(row);
  return {
    versionNumber: row.version_number,
    notes: row.notes,
    createdAt: row.created_at.toISOString(),
    ...snapshot,
  };
}
