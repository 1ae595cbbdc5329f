import type { VersionRow } from '../../db/queries/agents/agentVersions.ts';
import type { AgentSnapshot, AgentSnapshotFormat1 } from '../../db/stored/agentSnapshot.ts';

/** What a publication froze, in the format of today. */
export type Snapshot = AgentSnapshot;

/**
 * The snapshot that a version froze, upgraded to the format of today: the one reader of agent_versions.snapshot. Throws when a
 * newer release wrote it.
 */
export function snapshotOfVersion({ snapshot }: Pick<VersionRow, 'snapshot'>): Snapshot {
  if (snapshot.format === undefined) return fromFormat1(snapshot);
  if (snapshot.format === 2) return snapshot;
  throw new Error(
    `A version is stored in format ${(snapshot as { format: unknown }).format}, which this release cannot read`,
  );
}

function fromFormat1({ format: _none, variablesSnapshot, ...snapshot }: AgentSnapshotFormat1): AgentSnapshot {
  return {
    httpTools: [],
    knowledgeSources: [],
    skills: [],
    subAgents: [],
    externalMcps: [],
    nativeMcps: [],
    ...snapshot,
    variables: Object.values(variablesSnapshot).sort(
      (a, b) => a.sortOrder - b.sortOrder || compare(a.createdAt, b.createdAt) || compare(a.publicId, b.publicId),
    ),
    format: 2,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
