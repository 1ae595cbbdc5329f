import type { components } from '../generated/api.ts';

type Version = components['schemas']['AgentVersion'];

/** What a publication freezes: the version as the contract shows it, less what the version row itself holds. */
export type Snapshot = Omit<Version, 'versionNumber' | 'createdAt' | 'notes'>;
