import type {
  ExternalMcpResource,
  HttpToolResource,
  NativeMcpResource,
} from '../../db/queries/agents/agentResources.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';

/** An HTTP tool that is linked and active. `requiresApproval` is true when the link or the tool requires it. */
export interface LinkedHttpTool {
  row: HttpToolResource;
  requiresApproval: boolean;
}

/** An external MCP server that is linked, active and connected. */
export interface LinkedExternalMcp {
  row: ExternalMcpResource;
  instanceMode: 'STATIC' | 'DYNAMIC';
  requiresApproval: boolean;
}

/** A connection to a toolkit that is linked. */
export interface LinkedNativeMcp {
  row: NativeMcpResource;
  instanceMode: 'STATIC' | 'DYNAMIC';
}

/** A skill that is linked and active. */
export interface LinkedSkill {
  id: string;
  name: string;
  description: string;
}

/** An agent that is linked as a sub-agent and can run: active and published. */
export interface LinkedSubAgent {
  id: string;
  name: string;
  /** The description of the link, or else that of the agent; '' when neither has one. */
  description: string;
  publishedVersionNumber: number;
  /** The model that the link names; null = the sub-agent's own. */
  aiModelPublicId: string | null;
}

/** The resources behind the links of a published version, as they are now; each kind in the order of the version. */
export interface Resources {
  httpTools: readonly LinkedHttpTool[];
  externalMcps: readonly LinkedExternalMcp[];
  nativeMcps: readonly LinkedNativeMcp[];
  skills: readonly LinkedSkill[];
  /** Sources of active links. The search itself leaves out sources that are not processed. */
  knowledgeSourceIds: readonly string[];
  subAgents: readonly LinkedSubAgent[];
  /** Whether the agent has an active connection to a channel. */
  hasChannel: boolean;
  /** The agent's own model; undefined when it does not exist any more. */
  model: ModelDescriptor | undefined;
}
