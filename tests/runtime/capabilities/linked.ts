import type { LinkKind } from '../../../db/queries/agents/agentLinks.ts';
import type { AgentScope, AgentTool, ToolOutput } from '../../../runtime/agent/tool.ts';
import { makeToolset, runTool } from '../../../runtime/agent/toolset.ts';
import { ResourceCache } from '../../../runtime/resources/resourceCache.ts';
import type { TestApp } from '../../support/http/app.ts';
import { type ScopeParts, scopeOf } from '../../support/turns/agentScope.ts';
import { publishedWith } from '../agent/published.ts';

/** The scope of a new published agent with these links, read from the database as for a turn. */
export async function linkedScope(
  app: TestApp,
  links: readonly [LinkKind, string][],
  parts: Partial<ScopeParts> = {},
): Promise<AgentScope> {
  const subject = await publishedWith(app, links);
  const { db, workspaceId } = app.workspace;
  const resources = await new ResourceCache().get(db, workspaceId, app.service.runtime, subject);
  return scopeOf(app, { agentId: subject.agentId, resources, ...parts });
}

/** Runs a tool as a turn does, by its name in the toolset. */
export async function runNamed(
  tools: readonly AgentTool[],
  name: string,
  input: Record<string, unknown> = {},
  signal = new AbortController().signal,
): Promise<ToolOutput> {
  const toolset = makeToolset(tools);
  const entry = toolset.byName(name);
  if (!entry) throw new Error(`There is no ${name} among ${toolset.definitions.map((each) => each.name).join(', ')}.`);
  return (await runTool(entry, input, {
    signal,
    showUi: () => {},
    noteFindings: () => {},
    handOver: () => {},
  })) as ToolOutput;
}
