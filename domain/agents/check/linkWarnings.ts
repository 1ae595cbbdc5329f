import type { LinkState } from '../../../db/queries/agents/linkStates.ts';
import type { StoredToolsLeftOut } from '../../../db/stored/mcpTool.ts';
import type { AgentWarning } from './warning.ts';

const NOUNS: Readonly<Record<LinkState['kind'], string>> = {
  skill: 'skill',
  knowledge_source: 'knowledge source',
  http_tool: 'tool',
  external_mcp: 'MCP server',
  native_mcp: 'connection',
  sub_agent: 'sub-agent',
};

/** What the agent is linked to and cannot use. `inCatalogue` says whether a model of the catalogue has this id. */
export function linkWarnings(links: readonly LinkState[], inCatalogue: (id: string) => boolean): AgentWarning[] {
  return links.flatMap((link) => warningOf(link, inCatalogue) ?? []);
}

function warningOf(link: LinkState, inCatalogue: (id: string) => boolean): AgentWarning | undefined {
  const { kind, name: subject, active, isDeleted, sourceStatus, serverStatus, agentStatus, isPublished } = link;
  const what = `The ${NOUNS[kind]} “${subject}”`;
  if (isDeleted)
    return {
      code: 'link_target_deleted',
      subject,
      message: `${what} is deleted, so the agent goes without it. Unlink it.`,
    };
  if (!active)
    return {
      code: 'link_switched_off',
      subject,
      message: `${what} is linked, but its link is switched off. Switch it on, or unlink it.`,
    };
  switch (kind) {
    case 'knowledge_source':
      return sourceStatus === 'COMPLETED'
        ? undefined
        : {
            code: 'knowledge_source_not_ready',
            subject,
            message:
              sourceStatus === 'FAILED'
                ? `${what} could not be read, so nothing is found in it. Its errorMessage says why.`
                : `${what} is not read yet (${sourceStatus}), so nothing is found in it until it is COMPLETED.`,
          };
    case 'external_mcp':
      if (serverStatus !== 'CONNECTED')
        return {
          code: 'mcp_server_not_connected',
          subject,
          message: `${what} is not connected (${serverStatus}), so the agent has none of its tools.`,
        };
      return link.toolsLeftOut === null
        ? undefined
        : { code: 'mcp_tools_left_out', subject, message: leftOutText(what, link.toolsLeftOut) };
    case 'sub_agent': {
      if (agentStatus !== 'active' || !isPublished) {
        const why = isPublished ? `is ${agentStatus}` : 'has no published version';
        return {
          code: 'sub_agent_not_published',
          subject,
          message: `${what} ${why}, so nothing can be delegated to it.`,
        };
      }
      if (link.modelId === null || link.isOwnModel || inCatalogue(link.modelId)) return undefined;
      return {
        code: 'model_missing',
        subject,
        message: `The model that the link to the ${NOUNS[kind]} “${subject}” names does not exist any more.`,
      };
    }
    default:
      return undefined;
  }
}

/** Which tools are left out, and why the first of them is. */
function leftOutText(what: string, { count, tools }: StoredToolsLeftOut): string {
  const [first] = tools;
  const more = count > tools.length ? ` and ${count - tools.length} more` : '';
  const names = `${tools.map(({ name }) => `“${name}”`).join(', ')}${more}`;
  const lists = `${what} lists ${count === 1 ? 'a tool' : `${count} tools`} that cannot be used`;
  const why = first === undefined ? '' : ` Of “${first.name}”: ${first.reason}`;
  return `${lists}, so the agent goes without: ${names}.${why} Change the server, and discover it again.`;
}
