import { newId } from '../../../core/ids.ts';
import type { TurnEnd } from '../../../db/queries/turns/finishTurn.ts';
import type { TurnStart, UserMessage } from '../../../db/queries/turns/turnStart.ts';
import type { PausedRunFormat3 } from '../../../db/stored/pausedRun.ts';
import { storedPausedRun } from '../../../runtime/agent/storedRun.ts';

/** A turn that begins with a message, for tests that store turns without running them. */
export function turnStart(
  of: Pick<TurnStart, 'workspaceId' | 'conversationId' | 'agentId'> & Partial<TurnStart>,
  content = 'Hello',
): TurnStart & { message: UserMessage } {
  return {
    turnId: newId(),
    attempt: 1,
    versionNumber: 1,
    kind: 'message',
    now: new Date(),
    commandId: null,
    usesQuota: false,
    claim: null,
    known: null,
    recalls: false,
    payment: null,
    request: null,
    ...of,
    message: { id: newId(), content, modelText: null, attachments: [], snippet: content, isStored: false },
  };
}

/** The run of an agent that waits, before its first step. */
export function pausedState(agentId = newId()): PausedRunFormat3 {
  return storedPausedRun({ agentId, task: '', writer: 'openai/gpt-4.1', messages: [], calls: [] });
}

/** A turn that ended with one reply. */
export function turnEnd(content: string, given: Partial<TurnEnd> = {}): TurnEnd {
  return {
    replies: [{ id: newId(), content }],
    snippet: content,
    ui: null,
    audioKey: null,
    audioBytes: null,
    model: 'gpt-4.1',
    provider: 'openai',
    usage: { inputTokens: 100, outputTokens: 20, costUsd: 0.0012345678 },
    costOps: 1,
    steps: [],
    transcript: null,
    paused: null,
    resumed: null,
    followUpAt: null,
    isOfAutomation: false,
    pause: null,
    channel: null,
    isFollowUp: false,
    isPaid: false,
    now: new Date(),
    ...given,
  };
}
