import type { Logger } from 'pino';
import { untilAborted } from '../../core/deadline.ts';
import { atOnce, inTurns, type Stretches } from '../../core/ownTurn.ts';
import { cutText, toStorable } from '../../core/text.ts';
import type { ModelTool } from '../models/call.ts';
import { checkInputs } from '../tools/configuration/inputSchema.ts';
import { inputFromModel, schemaForModel } from './modelSchema.ts';
import type { AgentTool, Suspension, ToolCallContext, ToolOrigin, ToolOutput } from './tool.ts';
import { namesInStretches, originKey } from './toolNames.ts';

/** A tool under the name by which the model knows it in this turn. */
export interface ToolsetEntry {
  name: string;
  tool: AgentTool;
  /** Logs faults of this service, of which the model reads only that the tool cannot be used. */
  logger: Pick<Logger, 'warn'> | undefined;
}

/** All tools of an agent in one turn. */
export interface Toolset {
  /** The tools that the model is told about: at most 128, the run-time's own first. */
  definitions: readonly ModelTool[];
  /** Also finds the tools that the model was not told about because there were too many. */
  byName(name: string): ToolsetEntry | undefined;
  /** Finds a tool whose name may have changed since. */
  byOrigin(origin: ToolOrigin): ToolsetEntry | undefined;
}

/** Tools that are gone through in one turn of the event loop: some milliseconds. */
const STRETCH = 1_000;
/** OpenAI takes no more (platform.openai.com/docs/api-reference, `tools`). */
const MAX_TOOLS = 128;
/** The maximum that OpenAI had for long. A model reads all descriptions in each step. */
const MAX_DESCRIPTION = 1024;
const MAX_OUTPUT = 40_000;
/** The kinds whose inputs are not checked by their own code. */
const CHECKED_HERE: ReadonlySet<ToolOrigin['kind']> = new Set(['capability', 'sub_agent']);

/** What logs the tools that are left out, and faults of tools. */
interface ToolsetOptions {
  logger?: Pick<Logger, 'warn'> | undefined;
}

/** Makes the toolset: gives each tool its name (see toolNames.ts). Of two tools of one origin the first counts. */
export function makeToolset(tools: readonly AgentTool[], options: ToolsetOptions = {}): Toolset {
  return atOnce(toolsetStretches(tools, options));
}

/** As `makeToolset`. An agent may have thousands of tools: others have their turn meanwhile. */
export function makeToolsetInTurns(tools: readonly AgentTool[], options: ToolsetOptions = {}): Promise<Toolset> {
  return inTurns(toolsetStretches(tools, options));
}

function* toolsetStretches(tools: readonly AgentTool[], { logger }: ToolsetOptions): Stretches<Toolset> {
  const distinct = new Map<string, AgentTool>();
  for (const [place, tool] of tools.entries()) {
    const key = originKey(tool.origin);
    if (!distinct.has(key)) distinct.set(key, tool);
    if (place % STRETCH === STRETCH - 1) yield;
  }
  const names = yield* namesInStretches([...distinct.values()]);
  const byName = new Map<string, ToolsetEntry>();
  const byOrigin = new Map<string, ToolsetEntry>();
  const own: ToolsetEntry[] = [];
  const others: ToolsetEntry[] = [];
  for (const [key, tool] of distinct) {
    const entry = { name: names.get(tool) ?? '', tool, logger };
    byName.set(entry.name, entry);
    byOrigin.set(key, entry);
    (tool.origin.kind === 'capability' ? own : others).push(entry);
    if (byOrigin.size % STRETCH === 0) yield;
  }
  const ordered = [...own, ...others];
  if (ordered.length > MAX_TOOLS) {
    const leftOut = ordered.slice(MAX_TOOLS).map(({ name }) => name);
    logger?.warn({ leftOut: leftOut.slice(0, 50), count: leftOut.length }, 'an agent has more tools than models take');
  }
  return {
    definitions: ordered.slice(0, MAX_TOOLS).map(({ name, tool }) => ({
      name,
      description: cutText(toStorable(tool.description), MAX_DESCRIPTION),
      inputSchema: schemaForModel(tool.inputSchema),
    })),
    byName: (name) => byName.get(name),
    byOrigin: (origin) => byOrigin.get(originKey(origin)),
  };
}

/**
 * Calls a tool. Every failure is an output with `isError`, on which the model can act; faults of this service are logged too. The output
 * has at most 40,000 characters, and PostgreSQL can store all of them. Throws the reason of `call.signal` as soon as it is aborted, also
 * when the tool ignores it, and everything that a sub-agent throws: errors that its parent survives were made outputs before.
 */
export async function runTool(
  { name, tool, logger }: ToolsetEntry,
  modelInput: Record<string, unknown>,
  call: ToolCallContext,
): Promise<ToolOutput | Suspension> {
  try {
    call.signal.throwIfAborted();
    const running = async () => await tool.run(checkedInput(tool, modelInput), call);
    const output = await untilAborted(running(), call.signal);
    return 'paused' in output ? output : bounded(output);
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof WrongInput) return bounded({ text: error.message, isError: true });
    if (tool.origin.kind === 'sub_agent') throw error;
    logger?.warn({ err: error, tool: name, origin: tool.origin }, 'a tool could not be run');
    return { text: `${name} could not be used because of a fault in this service. It may work later.`, isError: true };
  }
}

class WrongInput extends Error {}

/** The input under the names that the tool knows. Throws WrongInput. */
function checkedInput(
  { origin, inputSchema }: AgentTool,
  modelInput: Record<string, unknown>,
): Record<string, unknown> {
  const input = inputFromModel(inputSchema, modelInput);
  if (!CHECKED_HERE.has(origin.kind)) return input;
  const checked = checkInputs(inputSchema, input);
  if ('problem' in checked) throw new WrongInput(checked.problem);
  return checked.inputs;
}

function bounded({ text, isError, files = [] }: ToolOutput): ToolOutput {
  const clean = toStorable(text);
  const rest = files.length > 0 ? { isError, files } : { isError };
  if (clean.length <= MAX_OUTPUT) return { text: clean, ...rest };
  const note = `\n[cut off here: the result has ${clean.length} characters]`;
  return { text: cutText(clean, MAX_OUTPUT - note.length) + note, ...rest };
}
