import { shorten } from '../../../core/text.ts';
import { findAnswer, passagesIn } from './knowledge.ts';
import type { ParsedPrompt } from './parsePrompt.ts';
import { type RequestedCall, type Requests, requestsIn } from './requests.ts';

/** What the model does next: it calls tools or returns a text. */
export type NextAction = { calls: RequestedCall[] } | { text: string };

const MAX_INSTRUCTIONS_CHARS = 201;
const MAX_MESSAGE_CHARS = 1_001;
const MAX_RESULT_CHARS = 2_001;
const MAX_TOOLS_LISTED = 30;

const NO_LLM = "I am Guildhall's built-in model, and not an LLM.";

/** Puts a text on one line and cuts it to a length in characters. */
function cut(text: string, max: number): string {
  return shorten(text.trim().replace(/\s+/g, ' '), max);
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_TOOLS_LISTED;
  return names.slice(0, MAX_TOOLS_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const toolsLine = (tools: readonly string[]): string =>
  tools.length === 0 ? 'I have no tools.' : `I can call ${counted(tools.length, 'tool')}: ${listed(tools)}.`;

/** Describes the request. */
function plain(seen: ParsedPrompt, tools: readonly string[], passages: number): string {
  const last = seen.said.at(-1) ?? '';
  const { system, attachments, others } = seen;
  const lines = [
    "I am Guildhall's built-in model. I am not an LLM: I tell you what reached me, so that you can try every feature without an account anywhere.",
    last.trim() === '' ? 'Your message has no text.' : `You wrote: “${cut(last, MAX_MESSAGE_CHARS)}”`,
    system.trim() === ''
      ? 'I have no instructions.'
      : `My instructions begin: “${cut(system, MAX_INSTRUCTIONS_CHARS)}”`,
    others === 0
      ? 'This is the first message that I see of this conversation.'
      : `I see ${counted(others, 'earlier message')} of this conversation.`,
  ];
  if (attachments.length > 0) {
    lines.push(`It has ${counted(attachments.length, 'attachment')} (${attachments.join('; ')}).`);
  }
  if (tools.length > 0) lines.push(`${toolsLine(tools)} Write “call ${tools[0]} {…}” with its input, and I do.`);
  if (passages > 0) lines.push(`${counted(passages, 'passage')} of knowledge reached me.`);
  lines.push('For real answers, set a provider key such as OPENAI_API_KEY and choose one of its models for the agent.');
  return lines.join('\n\n');
}

/** Returns the plan of the calls so far. A message that only approves a call has no plan, so an earlier message's plan counts. */
function planOf(seen: ParsedPrompt, tools: ReadonlySet<string>): Requests {
  const own = requestsIn(seen.said.at(-1) ?? '', tools);
  if (own.steps.length > 0 || seen.steps.length === 0) return own;
  for (const earlier of seen.said.slice(0, -1).reverse()) {
    const plan = requestsIn(earlier, tools);
    if (plan.steps.length > 0) return plan;
  }
  return own;
}

/** Returns how many steps of the plan are done, and whether a call of the last one failed. */
function progress({ steps }: Requests, made: ParsedPrompt['steps']): { done: number; failed: boolean } {
  let done = 0;
  let failed = false;
  for (const calls of made) {
    const names = (step: readonly { name: string }[] | undefined) => step?.map(({ name }) => name).join(' ');
    if (names(steps[done]) !== names(calls)) continue;
    done += 1;
    failed = calls.some(({ result }) => result === undefined || result.isError);
  }
  return { done, failed };
}

function report(seen: ParsedPrompt, left: RequestedCall[]): string {
  const lines = seen.steps.flat().map(({ name, result }) => {
    if (result === undefined) return `${name} has not answered.`;
    return `${name} ${result.isError ? 'failed' : 'answered'}: “${cut(result.text, MAX_RESULT_CHARS)}”`;
  });
  if (left.length > 0) lines.push(`So I did not call ${listed(left.map(({ name }) => name))}.`);
  return [`${NO_LLM} Results of my calls:`, ...lines].join('\n\n');
}

/**
 * Decides what the model does next. It makes the calls that the user's message asks for, step by step, until all are made or one
 * fails, and then reports their results. Otherwise it quotes the knowledge in the prompt with its sources, or describes the request.
 */
export async function nextAction(seen: ParsedPrompt, tools: readonly string[], mayCall: boolean): Promise<NextAction> {
  const offered = new Set(tools);
  const plan = planOf(seen, offered);
  const { done, failed } = progress(plan, seen.steps);
  const left = plan.steps.slice(done).flat();
  if (seen.steps.length === 0 && plan.unknown.length > 0) {
    const none = `There is no tool ${listed(plan.unknown)}.`;
    return { text: [NO_LLM, `${none} ${toolsLine(tools)}`].join('\n\n') };
  }
  const next = plan.steps[done];
  if (next !== undefined && mayCall && !failed) return { calls: next };
  if (seen.steps.length > 0) return { text: report(seen, left) };
  const passages = seen.besides.flatMap(passagesIn);
  const found = await findAnswer(seen.said.at(-1) ?? '', passages);
  if (next !== undefined || found.length === 0) {
    const refused = next === undefined ? [] : ['I may not call tools now.'];
    return { text: [...refused, plain(seen, tools, passages.length)].join('\n\n') };
  }
  const quoted = found.map(({ source, text }) => `${text}\n\nSource: ${source}`);
  return {
    text: [...quoted, `(${NO_LLM} These are the sentences that have most words of your question.)`].join('\n\n'),
  };
}
