import { findAgent } from '../../db/queries/agents/agents.ts';
import type { WorkspaceContext } from '../context.ts';

/** Messages that follow one another are answered together for so long at most, from the first one. */
const MAX_JOIN_MS = 15_000;

/** Milliseconds after a message in which another one joins it, by the agent's typing speed. */
const QUIET_MS = { LOW: 2_000, MEDIUM: 5_000, HIGH: 10_000 };
const TIERS = Object.values(QUIET_MS);

/** How long further messages of a person may join the ones that wait for an answer, in milliseconds. */
export interface JoinWindow {
  /** After the newest. */
  quietMs: number;
  /** After the first. */
  mostMs: number;
}

/**
 * How long further messages may join those that wait for an answer of the agent.
 * Nothing is waited for unless the published version of the agent takes its time (messageDelayEnabled).
 */
export async function joinWindow(
  { db, workspaceId, runtime }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'runtime'>,
  agentId: string,
): Promise<JoinWindow> {
  const agent = await findAgent(db, workspaceId, agentId);
  const version = agent?.published_version_number ?? null;
  const snapshot = version === null ? undefined : await runtime.snapshot(db, workspaceId, agentId, version);
  if (!snapshot?.messageDelayEnabled) return { quietMs: 0, mostMs: 0 };
  const { messageDelayType: tier } = snapshot;
  const quietMs =
    tier === 'RANDOM' ? (TIERS[Math.floor(Math.random() * TIERS.length)] ?? 0) : QUIET_MS[tier ?? 'MEDIUM'];
  return { quietMs, mostMs: MAX_JOIN_MS };
}
