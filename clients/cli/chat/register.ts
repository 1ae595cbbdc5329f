import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { usage } from '../failure.ts';
import { attachmentOf, checkTogether } from './attachments.ts';
import { decisionText, InteractiveChat } from './interactive.ts';
import { MAX_MESSAGE_CHARACTERS, messageFromStdin, sendOne } from './oneMessage.ts';
import { ChatSession, type Decision } from './session.ts';

interface Options {
  conversation?: string;
  user?: string;
  test?: boolean;
  file?: string[];
  variable?: string[];
  approve?: string[];
  reject?: string[];
}

const list = (value: string, before: string[] = []) => [...before, value];

/** `agents chat`: a conversation on a terminal, or one message from the arguments or a pipe. */
export const register: Register = (command, context) => {
  command
    .argument('<agent-id>', 'the agent, which must be published')
    .argument('[message...]', 'send this message, print the answer and end')
    .option('--conversation <id>', 'continue this conversation')
    .option('--user <id>', 'your own id of the end user, for a new conversation')
    .option('--test', 'keep a new conversation out of the inbox')
    .option('--file <path>', 'attach a file, 1 MiB at most, or an address; may be repeated', list)
    .option('--variable <name=value>', "a value for the agent's prompt: JSON or text; may be repeated", list)
    .option('--approve <id>', 'approve a call that waits; may be repeated', list)
    .option('--reject <id>', 'reject a call that waits; may be repeated', list)
    .addHelpText(
      'after',
      examples([
        'guildhall agents chat 0193a4c8-2b7e-7c11-9d1e-6f2a8b3c4d5e',
        'guildhall agents chat 0193a4c8-2b7e-7c11-9d1e-6f2a8b3c4d5e "Where is my order?" --file invoice.pdf',
        'git diff | guildhall agents chat 0193a4c8-2b7e-7c11-9d1e-6f2a8b3c4d5e > review.md',
      ]),
    )
    .action(async (agentId: string, words: string[], options: Options) => chat(context(), agentId, words, options));
};

async function chat(context: Context, agentId: string, words: string[], options: Options): Promise<void> {
  const { io } = context;
  const attachments = [];
  for (const path of options.file ?? []) attachments.push(await attachmentOf(path, io.cwd));
  checkTogether(attachments);
  const approvals = decisionsOf(options);
  const decides = Object.keys(approvals).length > 0;
  if (decides && options.conversation === undefined)
    throw usage('A decision needs the conversation in which the call waits.', 'Pass --conversation ID.');
  const variables = variablesOf(options.variable ?? []);

  const hasMessage = words.length > 0 || decides;
  const interactive = !hasMessage && io.stdin.isTTY === true && io.stdout.isTTY === true && !context.flags.json;
  if (!hasMessage && !interactive && io.stdin.isTTY)
    throw usage(
      'There is no message, and no terminal to chat on.',
      'Pass the message: guildhall agents chat ID "Hello".',
    );
  let content = words.join(' ');
  if (content === '' && decides) content = decisionText(approvals);
  else if (content === '' && !interactive) content = await messageFromStdin(context);
  if (!interactive && content.trim() === '' && attachments.length === 0) throw usage('The message is empty.');
  if (content.length > MAX_MESSAGE_CHARACTERS)
    throw usage(
      `A message has at most ${MAX_MESSAGE_CHARACTERS} characters, and this one has ${content.length}.`,
      'Attach the text as a file: --file PATH.',
    );

  const api = await context.api();
  const session = new ChatSession(api, {
    agentId,
    conversationId: options.conversation,
    externalUserId: options.user,
    isTest: options.test === true,
    variables,
  });
  if (!interactive) return await sendOne(context, session, { content, attachments, approvals });
  const agent = await api.call('getAgent', { path: { agentPublicId: agentId } });
  await new InteractiveChat(context, session, agent, attachments).run();
}

function decisionsOf({ approve = [], reject = [] }: Options): Record<string, Decision> {
  const both = approve.find((id) => reject.includes(id));
  if (both !== undefined) throw usage(`The call ${both} cannot be approved and rejected.`);
  return Object.fromEntries([
    ...approve.map((id): [string, Decision] => [id, 'approve']),
    ...reject.map((id): [string, Decision] => [id, 'reject']),
  ]);
}

/** `name=value`: what is JSON is taken as such, so that numbers and lists can be given; anything else is text. */
function variablesOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usage(`--variable takes name=value, and not ${JSON.stringify(pair)}.`);
      return [pair.slice(0, at), variableValue(pair.slice(at + 1))];
    }),
  );
}

function variableValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
