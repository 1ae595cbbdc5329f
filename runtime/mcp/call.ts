import { isDeeperThan, shallowText } from '../../core/json.ts';
import { ownTurn } from '../../core/ownTurn.ts';
import { shortenStorable, toStorable } from '../../core/text.ts';
import type { ToolFile } from '../models/toolFiles.ts';
import { argumentHeaders, InvalidHeaderNote } from './argumentHeaders.ts';
import type { McpConnection, McpRequestOptions } from './connect.ts';
import { readContent } from './content.ts';
import { isProtocolFault, notMcp, UNSUPPORTED_VERSION } from './failures.ts';
import { questionText, refusalNote } from './questions.ts';
import { readToolList } from './toolList.ts';

/** The result of a call of an MCP server's tool. */
export interface McpToolResult {
  /** Whether the tool says that it failed; `text` then says why. */
  isError: boolean;
  /** All content in its order, with a line for each part that is not text. At most 100,000 characters. */
  text: string;
  /** The images of the content. */
  files: readonly ToolFile[];
  /** The structured result, when there is one that is not too large. */
  structuredContent: Record<string, unknown> | null;
}

/** Limits and observers of one call. */
export type McpCallOptions = Pick<McpRequestOptions, 'signal' | 'timeoutMs' | 'headers' | 'onProgress'> & {
  /** Called when the server does not know the tool, or takes other arguments than its list says. */
  doubtsList?: () => void;
};

const MAX_CHARACTERS = 100_000;
const MAX_DEPTH = 32;
/** How often a server is told that its questions are declined, before the call fails. */
const MAX_ROUNDS = 3;
/** Characters of what a server wants to have sent back with the answers. */
const MAX_STATE = 100_000;
/** MissingRequiredClientCapability (https://modelcontextprotocol.io/specification/2026-07-28/basic/index). */
const MISSING_CAPABILITY = -32021;
/** HeaderMismatch: the server did not run the tool, since the headers of the call do not repeat what they should. */
const HEADER_MISMATCH = -32020;
/** Errors by which a server says that it does not know the tool or takes other arguments (https://www.jsonrpc.org/specification#error_object). */
const DOUBTS: ReadonlySet<number> = new Set([-32601, -32602, HEADER_MISMATCH]);
/** How the SDKs of the protocol say so in a result. */
const DOUBT_TEXT = /^MCP error -3260[12]\b/;

const refusal = (message: string): McpToolResult => ({
  isError: true,
  text: shortenStorable(message, MAX_CHARACTERS),
  files: [],
  structuredContent: null,
});

/**
 * Makes a request whose result may ask for input, and answers that nobody gives it. Returns the result with a note of what was asked
 * for; a note alone when the server cannot go on. Throws what `request` of the connection throws.
 */
export async function requestWithoutInput(
  connection: Pick<McpConnection, 'request'>,
  method: string,
  params: Record<string, unknown>,
  options: McpCallOptions = {},
): Promise<{ result: Record<string, unknown> | null; note: string }> {
  const asked: string[] = [];
  const observed = { ...options, onRefusal: (what: string) => void asked.push(what) };
  let again = {};
  for (let round = 0; ; round += 1) {
    const result = await connection.request(method, { ...params, ...again }, observed);
    if (result.resultType !== 'input_required') return { result, note: refusalNote(asked) };
    const questions = Object.entries(Object(result.inputRequests) as Record<string, unknown>).slice(0, 20);
    const answers = questions.map(([key, question]) => {
      const { method: kind, params: of } = Object(question) as Record<string, unknown>;
      asked.push(questionText(kind, of));
      return [
        key,
        kind === 'elicitation/create' ? { action: 'decline' } : kind === 'roots/list' ? { roots: [] } : null,
      ];
    });
    // An answer of a language model cannot be declined in the protocol.
    const { requestState } = result;
    const isTooLong = typeof requestState === 'string' && requestState.length > MAX_STATE;
    if (round >= MAX_ROUNDS || isTooLong || answers.some(([, answer]) => answer === null))
      return { result: null, note: refusalNote(asked) };
    again = {
      inputResponses: Object.fromEntries(answers),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }
}

/** The result of a call that the server refused. Throws every other error, and that of a server that speaks another revision by now. */
export function callFailure(error: unknown): McpToolResult {
  if (!isProtocolFault(error) || error.code === UNSUPPORTED_VERSION) throw error;
  const missing =
    error.code === MISSING_CAPABILITY ? ` ${refusalNote(['input that only a person or a model gives'])}` : '';
  return refusal(error.message + missing);
}

/** A call of a tool, and what is known of the tool. */
export interface McpToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** As the server listed it. Some arguments are sent as headers too, if it says so. */
  inputSchema?: Record<string, unknown> | undefined;
}

const TOO_LONG =
  'The server wants some of these arguments in headers of the request too, and they are too long for that. Make them shorter.';

/** Sends a call, with the headers that repeat its arguments. Null: they are too long. */
async function sendCall(
  connection: Pick<McpConnection, 'request' | 'era'>,
  { name, arguments: args, inputSchema }: McpToolCall,
  options: McpCallOptions,
): ReturnType<typeof requestWithoutInput> {
  let mirrored: Record<string, string> | undefined = {};
  try {
    if (connection.era === 'modern' && inputSchema) mirrored = argumentHeaders(inputSchema, args);
  } catch (error) {
    // The list is of another time. The server says whether it minds.
    if (!(error instanceof InvalidHeaderNote)) throw error;
  }
  if (mirrored === undefined) return { result: null, note: TOO_LONG };
  const headers = { ...options.headers, ...mirrored };
  return requestWithoutInput(connection, 'tools/call', { name, arguments: args }, { ...options, headers });
}

/** Sends a call; again by the tool's schema of now, when the server says that the headers do not fit the arguments. */
async function sendCallByItsSchema(
  connection: Pick<McpConnection, 'request' | 'era'>,
  call: McpToolCall,
  options: McpCallOptions,
): ReturnType<typeof requestWithoutInput> {
  try {
    return await sendCall(connection, call, options);
  } catch (error) {
    if (connection.era !== 'modern' || !isProtocolFault(error) || error.code !== HEADER_MISMATCH) throw error;
    const { tools } = await readToolList(connection, options.signal);
    const inputSchema = tools.find(({ name }) => name === call.name)?.inputSchema;
    if (inputSchema === undefined) throw error;
    options.doubtsList?.();
    return sendCall(connection, { ...call, inputSchema }, options);
  }
}

/**
 * Calls a tool. When the tool reports an error, or the server refuses the request (an unknown tool, wrong arguments), the result
 * has `isError`, so that the model can try something else. Input that the server asks for is declined, and the text says so.
 * @throws {McpFailed} the server did not respond, or not with MCP
 */
export async function callMcpTool(
  connection: Pick<McpConnection, 'request' | 'era'>,
  call: McpToolCall,
  options: McpCallOptions = {},
): Promise<McpToolResult> {
  let answered: Awaited<ReturnType<typeof requestWithoutInput>>;
  try {
    answered = await sendCallByItsSchema(connection, call, options);
  } catch (error) {
    if (isProtocolFault(error) && DOUBTS.has(error.code)) options.doubtsList?.();
    return callFailure(error);
  }
  const { result, note } = answered;
  if (result === null) return refusal(note);
  const { content = [], structuredContent, isError } = result;
  if (!Array.isArray(content)) throw notMcp();
  const json = await structuredText(structuredContent);
  const { text, files, hasText } = await readContent(content);
  if (isError === true && DOUBT_TEXT.test(text)) options.doubtsList?.();
  // Servers should repeat it as text, and not all of them do.
  const whole = [text, hasText ? '' : json].filter((each) => each !== '').join('\n');
  const shown = shortenStorable(whole, note === '' ? MAX_CHARACTERS : MAX_CHARACTERS - note.length - 1);
  return {
    isError: isError === true,
    text: [shown, toStorable(note)].filter((each) => each !== '').join('\n'),
    files,
    structuredContent: json !== '' && json.length <= MAX_CHARACTERS ? JSON.parse(json) : null,
  };
}

/** A structured result as JSON that can be stored; '' when there is none, or it nests too deeply. It may have 50,000 values, so each step has its own turn. */
async function structuredText(value: unknown): Promise<string> {
  if (typeof value !== 'object' || value === null) return '';
  await ownTurn();
  if (isDeeperThan(value, MAX_DEPTH)) return '';
  await ownTurn();
  return shallowText(value);
}
