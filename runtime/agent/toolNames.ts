import { createHash } from 'node:crypto';
import type { AgentTool, ToolOrigin } from './tool.ts';

/*
 * Names of tools, as every provider takes them: OpenAI allows ^[a-zA-Z0-9_-]{1,64}$, Anthropic longer ones too, Google wants a letter or
 * an underscore first.
 *
 * A model learns names from the conversation so far, so a tool should be called the same from turn to turn, whatever else comes and
 * goes. Its name depends on nothing but itself and the tools that want the same one:
 * 1. The run-time's own tools are always called what they are called.
 * 2. A tool that has no owner has its plain name, and so has a tool of an owner that nobody else wants.
 * 3. Tools of owners that want one name are called `owner__name`, all of them: which came first does not matter.
 * 4. Where even that is somebody else's, and where several tools without an owner want one name, a digest of the origin is added.
 */

const MAX_NAME = 64;
const MAX_OWNER = 24;

/** Tells tools apart that are not the same. */
export function originKey(origin: ToolOrigin): string {
  switch (origin.kind) {
    case 'capability':
      return `capability ${origin.name}`;
    case 'sub_agent':
      return `sub_agent ${origin.id}`;
    case 'http_tool':
      return `http_tool ${origin.id} ${origin.operationId ?? ''}`;
    case 'external_mcp':
    case 'native_mcp':
      return `${origin.kind} ${origin.id} ${origin.toolName}`;
  }
}

/** A text as a name that every provider takes: accents taken off, whatever else does not fit made `_`, cut to `most` characters. */
export function toolName(text: string, most = MAX_NAME): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '_');
  const named = /[a-zA-Z0-9]/.test(plain) ? plain : 'tool';
  return (/^[a-zA-Z_]/.test(named) ? named : `_${named}`).slice(0, most);
}

/** The name of each tool, in the order of the tools. Their origins are distinct. */
export function uniqueNames(tools: readonly AgentTool[]): Map<AgentTool, string> {
  const plain = new Map(tools.map((tool) => [tool, toolName(tool.name)]));
  const wanting = Map.groupBy(tools, (tool) => plain.get(tool));
  const names = new Map<AgentTool, string | undefined>();
  const qualified = new Map<AgentTool, string>();
  for (const tool of tools) {
    const name = plain.get(tool) ?? '';
    const rivals = (wanting.get(name) ?? []).filter((other) => other !== tool);
    const ours = tool.origin.kind === 'capability';
    const first = ours || !rivals.some((rival) => yieldsTo(tool, rival));
    names.set(tool, first ? name : undefined);
    if (!first && tool.owner !== null) {
      qualified.set(tool, `${toolName(tool.owner, MAX_OWNER)}__${name}`.slice(0, MAX_NAME));
    }
  }
  const wantedTwice = Map.groupBy(qualified, ([, name]) => name);
  for (const [tool, name] of qualified) {
    if (wantedTwice.get(name)?.length === 1 && !wanting.has(name)) names.set(tool, name);
  }
  const taken = new Set(names.values());
  for (const [tool, name] of names) {
    if (name === undefined) names.set(tool, withDigest(qualified.get(tool) ?? plain.get(tool) ?? '', tool, taken));
  }
  return names as Map<AgentTool, string>;
}

/** Whether a tool cannot have the plain name that a rival wants too. */
function yieldsTo(tool: AgentTool, rival: AgentTool): boolean {
  return rival.origin.kind === 'capability' || tool.owner !== null || rival.owner === null;
}

function withDigest(name: string, { origin }: AgentTool, taken: Set<string | undefined>): string {
  for (let salt = 0; ; salt += 1) {
    const digest = createHash('sha256')
      .update(`${salt} ${originKey(origin)}`)
      .digest('hex')
      .slice(0, 8);
    const made = `${name.slice(0, MAX_NAME - digest.length - 1)}_${digest}`;
    // Somebody may have called a tool like this.
    if (taken.has(made)) continue;
    taken.add(made);
    return made;
  }
}
