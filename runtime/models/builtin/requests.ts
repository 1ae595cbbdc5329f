/** A call that a message asks for. `arguments` is the text of the message, valid JSON or not; `{}` when there is none. */
export type RequestedCall = { name: string; arguments: string };

/** The calls that a message asks for: a list of steps, each with parallel calls. */
export type Requests = {
  steps: RequestedCall[][];
  /** Names that clearly mean a tool, but no tool has them. */
  unknown: string[];
};

const NAME = '[A-Za-z0-9_](?:[\\w.-]*\\w)?';
/** “The tool” or the like, a quotation mark, the name. */
const TOOL = `(?:the\\s+)?((?:tool|function)\\s+(?:(?:called|named)\\s+)?)?([\`"'“‘]?)(${NAME})[\`"'”’]?`;
const REQUESTED = new RegExp(`\\b(?:call|use|run|invoke|execute)\\s+${TOOL}`, 'giu');
/** Another one after a call: `, b {…}`, `and b {…}`, `then b {…}`. */
const CONTINUED = new RegExp(`\\s*(?:(?:[,;&]|\\band\\b|\\bthen\\b)\\s*){1,3}${TOOL}`, 'yiu');
/** Words that stand before “tool” in ordinary sentences. */
const NO_NAMES = new Set(
  'a an and any another each every for from if in is it my no of on one or other same some that the this to which with your'.split(
    ' ',
  ),
);
/** What may stand between a name and its arguments, in this order. Separate patterns, because one combined pattern would backtrack on blanks. */
const BEFORE_ARGUMENTS = [
  /(?:tool|function)\b/iuy,
  /(?:with|using)\b/iuy,
  /the\b/iuy,
  /(?:arguments?|inputs?|parameters?|json)\b/iuy,
  /[:=(]/y,
  /```(?:json)?|`/iuy,
];
const AFTER_ARGUMENTS = /\s*(?:```|`)?\)?/y;
const NAMED_TOOL = /\s+(?:tool|function)\b/iuy;
const BLANKS = /\s*/y;

/** Returns the end of the JSON object that begins at `start`; the end of the text when it is not closed. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function stickyEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Returns the start of the arguments that follow a name that ends at `end`; undefined when there are none. */
function startOfArguments(text: string, end: number): number | undefined {
  const skipBlanks = (from: number): number => stickyEnd(BLANKS, text, from) ?? from;
  let at = skipBlanks(end);
  for (const pattern of BEFORE_ARGUMENTS) at = skipBlanks(stickyEnd(pattern, text, at) ?? at);
  return text[at] === '{' ? at : undefined;
}

type FoundCall = RequestedCall & {
  /** Where the name begins, and where the arguments end. */
  start: number;
  end: number;
  /** The name clearly means a tool, even when no tool has it. */
  isMeant: boolean;
};

/** Returns the call whose name was matched, with the arguments that follow it. */
function withArguments(text: string, match: RegExpExecArray): FoundCall {
  const [whole, toolWord, quote, name = ''] = match;
  const end = match.index + whole.length;
  const start = match.index + whole.lastIndexOf(name);
  const opening = startOfArguments(text, end);
  if (opening !== undefined) {
    const closing = endOfObject(text, opening);
    const after = stickyEnd(AFTER_ARGUMENTS, text, closing) ?? closing;
    return { name, arguments: text.slice(opening, closing), start, end: after, isMeant: true };
  }
  // “Call me” asks for no tool; “call send_mail” and “run the weather tool” do.
  const besideTool = toolWord !== undefined || stickyEnd(NAMED_TOOL, text, end) !== undefined;
  const isMeant = quote === '`' || name.includes('_') || (besideTool && !NO_NAMES.has(name.toLowerCase()));
  return { name, arguments: '{}', start, end, isMeant };
}

/**
 * Finds the calls that a message explicitly asks for: `call NAME {…}`, `use the tool NAME with {…}`, `run NAME`. Several calls make
 * one step, and `then` begins the next. A name without arguments that may be an ordinary word counts only when a tool has it.
 */
export function requestsIn(message: string, tools: ReadonlySet<string>): Requests {
  const requests: Requests = { steps: [], unknown: [] };
  let end = 0;
  const take = (match: RegExpExecArray): boolean => {
    const found = withArguments(message, match);
    if (!tools.has(found.name) && !found.isMeant) return false;
    if (requests.steps.length === 0 || /\bthen\b/iu.test(message.slice(end, found.start))) requests.steps.push([]);
    requests.steps.at(-1)?.push({ name: found.name, arguments: found.arguments });
    if (!tools.has(found.name) && !requests.unknown.includes(found.name)) requests.unknown.push(found.name);
    end = found.end;
    return true;
  };
  for (;;) {
    REQUESTED.lastIndex = end;
    let match = REQUESTED.exec(message);
    while (match !== null && !take(match)) match = REQUESTED.exec(message);
    if (match === null) return requests;
    do {
      CONTINUED.lastIndex = end;
      match = CONTINUED.exec(message);
    } while (match !== null && take(match));
  }
}
