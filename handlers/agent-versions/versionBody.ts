import type { VersionRow } from '../../db/queries/agents/agentVersions.ts';
import type { components } from '../../generated/api.ts';
import { snapshotOfVersion } from '../../runtime/resources/snapshot.ts';

/**
 * The version as the contract shows it: variables by name, and without the links of the kinds that are frozen and not shown. The
 * other fields of the stored shape are those of the contract; where the two come to differ, this is the place.
 */
export function versionBody(row: VersionRow): components['schemas']['AgentVersion'] {
  const { format: _format, variables, externalMcps: _external, nativeMcps: _native, ...shown } = snapshotOfVersion(row);
  return {
    versionNumber: row.version_number,
    notes: row.notes,
    createdAt: row.created_at.toISOString(),
    ...shown,
    variablesSnapshot: Object.fromEntries(variables.map((variable) => [variable.name, variable])),
  };
}
