import type { StoredDefaultValue, StoredVariableOption } from './agentVariable.ts';

/**
 * The JSON of agent_versions.snapshot: an agent's editable state as a publication freezes it. It is read through
 * `snapshotOfVersion`, which upgrades the older formats.
 */
export type StoredAgentSnapshot = AgentSnapshotFormat1 | AgentSnapshot;

/** The format that is written today. A change of its shape is a new format: rows in the old one stay as they are. */
export interface AgentSnapshot extends AgentConfig {
  format: 2;
  /** Display name of the model when the version was published. */
  aiModelName: string | null;
  /** In the order of the agent. */
  variables: StoredVariable[];
  httpTools: StoredToolLink[];
  knowledgeSources: StoredKnowledgeSourceLink[];
  skills: StoredSkillLink[];
  subAgents: StoredSubAgentLink[];
  externalMcps: StoredExternalMcpLink[];
  nativeMcps: StoredNativeMcpLink[];
}

/** What was written before snapshots had a format number. A list is missing when its kind of link did not exist yet. */
export interface AgentSnapshotFormat1 extends AgentConfig {
  format?: undefined;
  aiModelName: string | null;
  /** By name; jsonb has not kept their order. */
  variablesSnapshot: Record<string, StoredVariable>;
  httpTools?: StoredToolLink[];
  knowledgeSources?: StoredKnowledgeSourceLink[];
  skills?: StoredSkillLink[];
  subAgents?: StoredSubAgentLink[];
  externalMcps?: StoredExternalMcpLink[];
  nativeMcps?: StoredNativeMcpLink[];
}

/** The editable fields of an agent, less its variables and links. */
export interface AgentConfig {
  systemPrompt: string | null;
  aiModelPublicId: string | null;
  temperature: number | null;
  thinkingEnabled: boolean;
  thinkingEffort: 'low' | 'medium' | 'high' | null;
  webSearchEnabled: boolean;
  sandboxEnabled: boolean;
  genuiEnabled: boolean;
  dynamicPromptEnabled: boolean;
  audioListeningEnabled: boolean;
  audioResponseEnabled: boolean;
  ttsVoice: string | null;
  longTermMemoryEnabled: boolean;
  memoryCustomInstructions: string | null;
  messageDelayEnabled: boolean;
  messageDelayType: 'LOW' | 'MEDIUM' | 'HIGH' | 'RANDOM' | null;
  messageSplittingEnabled: boolean;
  followUpEnabled: boolean;
  followUpAfterHours: number | null;
  followUpInactivityMinutes: number | null;
  followUpIntervalMinutes: number | null;
  followUpMaxAttempts: number | null;
  /** HH:MM:SS */
  followUpBusinessHoursStart: string | null;
  /** HH:MM:SS */
  followUpBusinessHoursEnd: string | null;
  followUpPrompt: string | null;
}

/** A variable of the prompt. */
export interface StoredVariable {
  publicId: string;
  name: string;
  label: string;
  description: string | null;
  type:
    | 'text_short'
    | 'text_long'
    | 'number'
    | 'date'
    | 'time'
    | 'datetime'
    | 'single_choice'
    | 'multi_choice'
    | 'bool';
  required: boolean;
  defaultValue: StoredDefaultValue | null;
  options: StoredVariableOption[] | null;
  multiChoiceSeparator: string | null;
  booleanTextWhenTrue: string | null;
  booleanTextWhenFalse: string | null;
  sortOrder: number;
  /** ISO 8601 */
  createdAt: string;
  /** ISO 8601 */
  updatedAt: string;
}

/** A link to an HTTP tool. */
export interface StoredToolLink {
  httpToolPublicId: string;
  toolName: string;
  toolType: 'HTTP_REQUEST' | 'DATABASE_QUERY' | 'INTERNAL_VARIABLE' | 'CUSTOM_INTEGRATION';
  active: boolean;
  requiresApproval: boolean;
}

/** A link to a knowledge source. */
export interface StoredKnowledgeSourceLink {
  knowledgeSourcePublicId: string;
  knowledgeSourceName: string;
  active: boolean;
}

/** A link to a skill. */
export interface StoredSkillLink {
  skillPublicId: string;
  skillName: string;
  active: boolean;
}

/** A link to a sub-agent. */
export interface StoredSubAgentLink {
  subAgentPublicId: string;
  subAgentName: string;
  description: string | null;
  /** The model that it runs on here; null = its own. */
  aiModelPublicId: string | null;
  aiModelName: string | null;
  sortOrder: number;
}

/** A link to an external MCP server. */
export interface StoredExternalMcpLink {
  externalMcpPublicId: string;
  serverName: string;
  active: boolean;
  instanceMode: 'STATIC' | 'DYNAMIC';
  requiresApproval: boolean;
}

/** A link to a native MCP connection. */
export interface StoredNativeMcpLink {
  connectionPublicId: string;
  connectionName: string;
  instanceMode: 'STATIC' | 'DYNAMIC';
}
