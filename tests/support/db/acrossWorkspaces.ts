/**
 * Functions whose statements ask across workspaces, and why. On one PostgreSQL they run as guildhall_system; on Citus they go to every
 * node. None of them is a part of what a request does, but for the two that renew what many requests hold, and the look-up of addresses, whose
 * table every node has whole.
 */
export const ACROSS_WORKSPACES: Readonly<Record<string, string>> = {
  findPublicAddresses: 'an address is named by its hash, before the workspace is known; joined with its workspace',
  findUnfinishedKnowledgeSources: 'sweep',
  findOldestUnfinishedSourceTime: 'lateness',
  findSourcesWithoutVectors: 'sweep',
  findDueFollowUps: 'sweep',
  findNextFollowUpTime: 'sweep',
  findOldestFollowUpTime: 'lateness',
  findExecutionsToRun: 'sweep',
  findNextRetryTime: 'sweep',
  findOldestExecutionTime: 'lateness',
  markInterrupted: 'sweep; each turn is then ended by a statement that names its workspace',
  endPassedPauses: 'upkeep',
  findNextPauseEnd: 'sweep',
  findDecidedConversations: 'sweep',
  findOldestDecisionTime: 'lateness',
  markSilent: 'upkeep',
  countProblems: 'metric: by an index that has the connections with a problem only',
  findConnectionAnywhere: 'admin command: a connection is named by its id alone',
  selectConnectionsAnywhere: 'admin command',
  removeExpiredKeys: 'upkeep',
  removeExcessKeys: 'upkeep',
  renewClaims: 'renews the claims of all running requests of the process at once; joined by their workspaces',
  renewLeases: 'renews the leases of all running turns of the process at once; joined by their workspaces',
  findKeyProgress: 'reads the progress of all waiting requests of the process at once; joined by their workspaces',
  findChatStates: 'reads the conversations of all open chat streams of the process at once; joined by their workspaces',
  removeOldLiveReplies: 'upkeep',
  removeOldChatUsage: 'upkeep',
  findUnsentChatFiles: 'upkeep; each file is then removed by a statement that names its workspace',
  selectPendingApprovals: 'admin command',
  selectPausedConversations: 'admin command',
  decideAsOperator: 'admin command: an approval is named by its id alone',
  workspaceOf: 'admin command: a conversation or a turn is named by its id alone',
};
