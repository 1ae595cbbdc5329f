import type { Logger } from 'pino';
import { newId } from '../../../core/ids.ts';
import { findVersion } from '../../../db/queries/agents/agentVersions.ts';
import type { AgentScope, AgentTool, ToolCallContext, ToolOutput } from '../../../runtime/agent/tool.ts';
import type { Capability } from '../../../runtime/capabilities/capability.ts';
import type { Resources } from '../../../runtime/resources/resources.ts';
import { type Snapshot, snapshotOfVersion } from '../../../runtime/resources/snapshot.ts';
import { makeReadyAgent, publish } from '../agents/agents.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';

/** Links to nothing at all. */
export const NO_RESOURCES: Resources = {
  httpTools: [],
  externalMcps: [],
  nativeMcps: [],
  skills: [],
  knowledgeSourceIds: [],
  subAgents: [],
  hasChannel: false,
  model: undefined,
};

/** Who runs, and for whom; what is left out is linked to nothing, for a user and in a conversation of its own. */
export interface ScopeParts {
  /** A published agent. */
  agentId: string;
  resources?: Partial<Resources>;
  /** The agents that delegated down to it, itself last; when left out, it is the agent of the conversation. */
  path?: string[];
  /** Fields in place of those of the published version. */
  snapshot?: Partial<Snapshot>;
  externalUserId?: string;
  conversationId?: string;
  channel?: AgentScope['channel'];
  /** Whose agent it is, if not the application's first workspace's. */
  workspace?: SeededWorkspace;
  /** Hears of what went wrong. */
  logger?: Pick<Logger, 'warn'>;
}

/** What the tools of a published agent work with, in a turn that nobody began. */
export async function scopeOf(app: TestApp, parts: ScopeParts): Promise<AgentScope> {
  const { agentId, workspace = app.workspace } = parts;
  const { db, workspaceId } = workspace;
  const { published_version_number: published } = await db
    .selectFrom('agents')
    .select('published_version_number')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow();
  const version = await findVersion(db, workspaceId, agentId, published ?? 0);
  if (!version) throw new Error(`The agent ${agentId} is not published.`);
  return {
    db,
    workspaceId,
    runtime: app.service.runtime,
    logger: parts.logger,
    agentId,
    conversationId: parts.conversationId ?? newId(),
    channel: parts.channel ?? 'api',
    externalUserId: parts.externalUserId ?? newId(),
    path: parts.path ?? [agentId],
    snapshot: { ...snapshotOfVersion(version), ...parts.snapshot },
    instructions: version.snapshot.systemPrompt ?? '',
    resources: { ...NO_RESOURCES, ...parts.resources },
  };
}

/** As `scopeOf`, for a new published agent on the built-in model. */
export async function newScope(app: TestApp, parts: Omit<ScopeParts, 'agentId'> = {}): Promise<AgentScope> {
  const key = parts.workspace?.apiKey;
  const { publicId: agentId } = await makeReadyAgent(app, {}, key);
  await publish(app, agentId, undefined, key);
  return scopeOf(app, { ...parts, agentId });
}

/** The tools that the agent has by this capability: none when it does not have it. */
export function toolsFrom<Tools>(
  { isActive, tools }: Pick<Capability, 'isActive'> & { tools(scope: AgentScope): Tools },
  scope: AgentScope,
): Tools | [] {
  return isActive(scope) ? tools(scope) : [];
}

/** Calls the tool of this name as a turn would. Throws when there is none, or the call is suspended. */
export async function callTool(
  tools: readonly AgentTool[],
  name: string,
  input: Record<string, unknown> = {},
  call: Partial<ToolCallContext> = {},
): Promise<ToolOutput> {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`There is no tool ${name} among ${tools.map((one) => one.name).join(', ')}.`);
  const output = await tool.run(input, {
    signal: new AbortController().signal,
    showUi: () => {},
    noteFindings: () => {},
    handOver: () => {},
    ...call,
  });
  if ('paused' in output) throw new Error(`The call of ${name} is suspended.`);
  return output;
}
