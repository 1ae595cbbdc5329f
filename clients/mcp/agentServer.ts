import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { GuildhallError } from '../sdk/index.ts';
import { type Access, CredentialMissing, credentialResult } from './access.ts';
import { type AgentFacts, ask, askTool } from './ask.ts';
import { agentInstructions } from './instructions.ts';
import { progressOf } from './progress.ts';
import { VERSION } from './version.ts';

/** What the server of one agent is made of. */
export interface AgentServerParts {
  access: Access;
  agentId: string;
  /** The agent, if it has been looked up; absent: what the server says of it is general. */
  agent?: AgentFacts | undefined;
}

/** The agent cannot be talked to: there is none with this id in the workspace, or it is not published. The message says which. */
export class AgentUnavailable extends Error {
  override readonly name = 'AgentUnavailable';
  readonly status: 404 | 422;

  constructor(status: 404 | 422, message: string) {
    super(message);
    this.status = status;
  }
}

/** Looks a published agent up. Throws AgentUnavailable, CredentialMissing and the errors of the SDK. */
export async function findPublishedAgent(access: Access, agentId: string, signal?: AbortSignal): Promise<AgentFacts> {
  const api = await access.api();
  const unknown = () =>
    new AgentUnavailable(404, `No agent with the id ${agentId} exists in the workspace of this key.`);
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(agentId)) throw unknown();
  try {
    const agent = await api.call('getAgent', { path: { agentPublicId: agentId }, ...(signal ? { signal } : {}) });
    if (agent.publishedVersionNumber === null || agent.status === 'archived')
      throw new AgentUnavailable(422, `The agent "${agent.name}" is not published. Publish it first (publishAgent).`);
    return agent;
  } catch (error) {
    if (error instanceof GuildhallError && error.code === 'AGENT_NOT_FOUND') throw unknown();
    throw error;
  }
}

/**
 * Makes the MCP server of one agent, with the tool `ask`. It keeps nothing between two requests: the conversation goes on by the id that each
 * answer has.
 */
export function agentServer({ access, agentId, agent }: AgentServerParts): Server {
  const server = new Server(
    { name: `guildhall-agent-${agentId}`, title: agent?.name ?? 'Guildhall agent', version: VERSION },
    { capabilities: { tools: {} }, instructions: agentInstructions(agent?.name ?? agentId) },
  );
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) => {
    if (agent) return { tools: [askTool(agent)] };
    try {
      return { tools: [askTool(await findPublishedAgent(access, agentId, mcpReq.signal))] };
    } catch (error) {
      // Without a key the tool is listed all the same: its call is where a client shows how to log in.
      if (error instanceof CredentialMissing) return { tools: [askTool(undefined)] };
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error instanceof Error ? error.message : String(error));
    }
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name !== 'ask')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}. There is ask.`);
    try {
      const api = await access.api();
      return await ask(params.arguments, { api, agentId, signal: mcpReq.signal, progress: progressOf(mcpReq) });
    } catch (error) {
      if (error instanceof CredentialMissing) return credentialResult(error);
      throw error;
    }
  });
  return server;
}
