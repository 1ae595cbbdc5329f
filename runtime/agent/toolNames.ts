import { createHash } from 'node:crypto';
import { atOnce, type Stretches } from '../../core/ownTurn.ts';
import type { AgentTool, ToolOrigin } from './tool.ts';

/*
 * Names of tools that every provider accepts: OpenAI allows ^[a-zA-Z0-9_-]{1,64}$, Anthropic longer ones too, and Google requires a letter
 * or an underscore first.
 *
 * A model learns names from the history, so a tool should have the same name in every turn, whatever other tools are added or removed.
 * Its name depends only on itself and on the tools with the same plain name:
 * 1. The run-time's own tools always have their plain name.
 * 2. A tool without an owner has its plain name. So has a tool of an owner when no other tool has that name.
 * 3. All tools of owners with one plain name are called `owner__name`. Their order does not matter.
 * 4. Where that name exists too, and where several tools without an owner have one plain name, a digest of the origin is added.
 */

const MAX_NAME = 64;
const MAX_OWNER = 24;

/** A text that is equal for the same tool only. */
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

/** Tools that are gone through in one turn of the event loop: a few milliseconds. */
const STRETCH = 1_000;
const PLAIN = /^[a-zA-Z_][a-zA-Z0-9_-]*$/;

/** The text as a name that every provider accepts: without accents, other characters replaced by `_`, cut to `maxLength` characters. */
export function toolName(text: string, maxLength = MAX_NAME): string {
  // Nearly all names are such already.
  if (text.length <= maxLength && PLAIN.test(text) && /[a-zA-Z0-9]/.test(text)) return text;
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '_');
  const named = /[a-zA-Z0-9]/.test(plain) ? plain : 'tool';
  return (/^[a-zA-Z_]/.test(named) ? named : `_${named}`).slice(0, maxLength);
}

/** The name of each tool, in the order of the tools. Their origins are distinct. */
export function uniqueNames(tools: readonly AgentTool[]): Map<AgentTool, string> {
  return atOnce(namesInStretches(tools));
}

/** As `uniqueNames`, in stretches: an agent may have thousands of tools. */
export function* namesInStretches(tools: readonly AgentTool[]): Stretches<Map<AgentTool, string>> {
  const plain = new Map<AgentTool, string>();
  const rivalry = new Map<string, Rivalry>();
  for (const [place, tool] of tools.entries()) {
    const name = toolName(tool.name);
    plain.set(tool, name);
    const rivals = rivalry.get(name) ?? { all: 0, ours: 0, unowned: 0 };
    rivals.all += 1;
    if (tool.origin.kind === 'capability') rivals.ours += 1;
    if (tool.owner === null) rivals.unowned += 1;
    rivalry.set(name, rivals);
    if (place % STRETCH === STRETCH - 1) yield;
  }
  const names = new Map<AgentTool, string | undefined>();
  const qualified = new Map<AgentTool, string>();
  const wishes = new Map<string, number>();
  for (const [tool, name] of plain) {
    const rivals = rivalry.get(name);
    const first = rivals === undefined || keepsName(tool, rivals);
    names.set(tool, first ? name : undefined);
    if (!first && tool.owner !== null) {
      const wished = `${toolName(tool.owner, MAX_OWNER)}__${name}`.slice(0, MAX_NAME);
      qualified.set(tool, wished);
      wishes.set(wished, (wishes.get(wished) ?? 0) + 1);
    }
    if (names.size % STRETCH === 0) yield;
  }
  for (const [tool, name] of qualified) {
    if (wishes.get(name) === 1 && !rivalry.has(name)) names.set(tool, name);
  }
  const taken = new Set(names.values());
  let digests = 0;
  for (const [tool, name] of names) {
    if (name !== undefined) continue;
    names.set(tool, withDigest(qualified.get(tool) ?? plain.get(tool) ?? '', tool, taken));
    digests += 1;
    if (digests % STRETCH === 0) yield;
  }
  return names as Map<AgentTool, string>;
}

/** Who has one plain name. */
interface Rivalry {
  all: number;
  ours: number;
  /** Those without an owner. */
  unowned: number;
}

/** Whether a tool has its plain name: rules 1 and 2. */
function keepsName({ origin, owner }: AgentTool, { all, ours, unowned }: Rivalry): boolean {
  if (origin.kind === 'capability' || all === 1) return true;
  return owner === null && ours === 0 && unowned === 1;
}

function withDigest(name: string, { origin }: AgentTool, taken: Set<string | undefined>): string {
  for (let salt = 0; ; salt += 1) {
    const digest = createHash('sha256')
      .update(`${salt} ${originKey(origin)}`)
      .digest('hex')
      .slice(0, 8);
    const made = `${name.slice(0, MAX_NAME - digest.length - 1)}_${digest}`;
    // Another tool may have this very name.
    if (taken.has(made)) continue;
    taken.add(made);
    return made;
  }
}
