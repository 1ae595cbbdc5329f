import type { LoggedStep } from '../../db/queries/turns/turnLog.ts';
import type { StoredFileNote, StoredRequestMessage, StoredRequestPart } from '../../db/stored/stepRequest.ts';
import type { LoggedFindings } from '../../runtime/agent/loggedFindings.ts';
import type { WholeRequest } from '../../runtime/agent/storedRequest.ts';
import { printable, printableLines, shortJson } from './printable.ts';

/** Before each line of a text that the service did not write. */
const INDENT = '    ';
const counted = new Intl.NumberFormat('en');

/** Printed where a step of a model has no request. */
export const NO_REQUEST =
  'What the model was sent is not stored: the step is older than this log, or its conversation was deleted.';

const inside = (text: string): string => printableLines(text, INDENT);

function fileNote({ name, mediaType, bytes }: StoredFileNote): string {
  const size = bytes === null ? 'size not known' : `${counted.format(bytes)} bytes`;
  return `  file ${printable(name ?? 'without a name')}, ${printable(mediaType)}, ${size} (its content is not stored)`;
}

function partLines(part: StoredRequestPart): string[] {
  switch (part.type) {
    case 'text':
      return [inside(part.text)];
    case 'reasoning':
      return ['  thought', inside(part.text)];
    case 'tool-call':
      return [
        `  calls ${printable(part.toolName)} (${printable(part.toolCallId)})`,
        inside(JSON.stringify(part.input, null, 2) ?? 'null'),
      ];
    case 'file':
      return [fileNote(part)];
  }
}

function messageLines(message: StoredRequestMessage): string[] {
  if ('omitted' in message) {
    return [`  not stored: ${counted.format(message.omitted)} characters, since the request was too large`];
  }
  if ('beside' in message) return [inside(message.beside)];
  if (message.role !== 'tool') {
    const { content } = message;
    return typeof content === 'string' ? [inside(content)] : content.flatMap(partLines);
  }
  return message.content.flatMap(({ toolName, toolCallId, isError, text, files = [] }) => [
    `  ${isError ? 'error' : 'result'} of ${printable(toolName)} (${printable(toolCallId)})`,
    inside(text),
    ...files.map(fileNote),
  ]);
}

const whose = (message: StoredRequestMessage): string =>
  'beside' in message ? 'beside the message before, by the service' : message.role;

/** What a model was sent, for people: instructions, tools and messages, each under a line of its own. */
export function requestText(request: WholeRequest): string {
  const { system, tools, settings, missingMessages: missing, messages } = request;
  const { temperature, toolChoice, thinking } = settings;
  const all = missing + messages.length;
  const how = [
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(thinking.enabled ? [`thinking${thinking.effort === undefined ? '' : ` ${thinking.effort}`}`] : []),
    ...(toolChoice === 'none' ? ['had to answer without tools'] : []),
  ];
  return [
    ...(how.length === 0 ? [] : [`-- asked with ${how.join(', ')}`]),
    system === null
      ? '-- instructions: no longer stored'
      : `-- instructions, ${counted.format(system.length)} characters\n${inside(system)}`,
    tools === null ? '-- tools: no longer stored' : `-- tools: ${tools.length === 0 ? 'none' : tools.length}`,
    ...(tools ?? []).map(
      ({ name, description, inputSchema }) =>
        `  ${printable(name)}\n${inside(description)}\n${INDENT}${shortJson(inputSchema, Number.MAX_SAFE_INTEGER)}`,
    ),
    ...(missing === 0 ? [] : [`-- messages 1 to ${missing} of ${all}: no longer stored`]),
    ...messages.map((message, place) =>
      [`-- message ${missing + place + 1} of ${all}: ${whose(message)}`, ...messageLines(message)].join('\n'),
    ),
  ].join('\n');
}

/** What was searched for and found in a step, for people: the query, and a line for each passage with its place and its ranks. */
export function findingsText({ kind, input, output }: Pick<LoggedStep, 'kind' | 'input' | 'output'>): string[] {
  const found = ((kind === 'model' ? input : output) as { knowledge?: LoggedFindings } | null)?.knowledge;
  if (!found) return [];
  const rank = (name: string, by: { rank: number; score: number } | null) =>
    by === null ? `not by ${name}` : `by ${name} ${by.rank}. (${by.score.toFixed(3)})`;
  return [
    `  searched ${shortJson(found.query, 160)}: ${found.passages.length} passages${found.isIncomplete ? ', and a part of the search failed' : ''}`,
    ...found.passages.map(({ sourceName, sourceId, seq, heading, page, score, byWords, byMeaning }) => {
      const place = [...(heading === null ? [] : [heading]), ...(page === null ? [] : [`page ${page}`])].join(', ');
      const where = printable(`${sourceName} ${sourceId}/${seq}${place === '' ? '' : ` [${place}]`}`);
      return `    ${score.toFixed(3)} ${where}: ${rank('words', byWords)}, ${rank('meaning', byMeaning)}`;
    }),
  ];
}
