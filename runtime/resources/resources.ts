import type {
  ExternalMcpResource,
  HttpToolResource,
  NativeMcpResource,
} from '../../db/queries/agents/agentResources.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';

/** An HTTP tool that is linked and active. `requiresApproval`: on the link or on the tool, the stricter wins. */
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
  /** The link's own description, or else the agent's; '' when neither has one. */
  description: string;
  publishedVersionNumber: number;
  /** The model that it runs on here; null = its own. */
  aiModelPublicId: string | null;
}

/** What the links of a published version stand for now, each kind in the order of the version. */
export interface Resources {
  httpTools: readonly LinkedHttpTool[];
  externalMcps: readonly LinkedExternalMcp[];
  nativeMcps: readonly LinkedNativeMcp[];
  skills: readonly LinkedSkill[];
  /** Active links; whether a source can be searched is seen by the search. */
  knowledgeSourceIds: readonly string[];
  subAgents: readonly LinkedSubAgent[];
  /** The agent's own model; undefined when it is gone. */
  model: ModelDescriptor | undefined;
}
