import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { type Access, CredentialMissing, credentialResult } from './access.ts';
import { complete } from './completion.ts';
import type { ServiceDocument } from './document.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { progressOf } from './progress.ts';
import { getPrompt, PROMPTS } from './prompts.ts';
import { AREA_TEMPLATE, RESOURCES, readResource } from './resources.ts';
import type { FilePolicy, ToolSet } from './tools/index.ts';
import { VERSION } from './version.ts';

/** What a server of the workspace is made of. */
export interface ServerParts {
  access: Access;
  tools: ToolSet;
  /** What tools may read from this machine. */
  files: FilePolicy;
  document: ServiceDocument;
}

/** Lists are the same until the program is replaced, and differ only by what the client itself has chosen. */
const LIST_HINT = { ttlMs: 3_600_000, cacheScope: 'private' } as const;
export const CACHE_HINTS = {
  'server/discover': LIST_HINT,
  'tools/list': LIST_HINT,
  'prompts/list': LIST_HINT,
  'resources/list': LIST_HINT,
  'resources/templates/list': LIST_HINT,
  'resources/read': LIST_HINT,
};

/** Makes the MCP server of a workspace: the operations as tools, resources and prompts. It keeps nothing between two requests. */
export function mcpServer({ access, tools, files, document }: ServerParts): Server {
  const server = new Server(
    { name: 'guildhall', title: 'Guildhall', version: VERSION },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.list() }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (!tools.list().some(({ name }) => name === params.name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    let api: Awaited<ReturnType<Access['api']>>;
    try {
      api = await access.api();
    } catch (error) {
      if (error instanceof CredentialMissing) return credentialResult(error);
      throw error;
    }
    const progress = progressOf(mcpReq);
    return tools.call(params.name, params.arguments ?? {}, {
      api,
      signal: mcpReq.signal,
      files,
      ...(progress ? { progress } : {}),
    });
  });
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [AREA_TEMPLATE] }));
  server.setRequestHandler('resources/read', ({ params }, { mcpReq }) =>
    readResource(params.uri, { document, access, signal: mcpReq.signal }),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }));
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments));
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq }) =>
    complete(params, { access, document, signal: mcpReq.signal }),
  );
  return server;
}
