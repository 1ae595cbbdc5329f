import type { Context } from '../context.ts';
import { usage } from '../failure.ts';
import { coloursOf } from '../terminal/colours.ts';
import { PlainStream } from '../terminal/plain.ts';
import type { Attachment } from './attachments.ts';
import { sayStyled, toolCallLine, waitingLine } from './notices.ts';
import type { ChatSession, Decision } from './session.ts';

/** What is sent, and how the answer is wanted. */
export interface OneMessage {
  content: string;
  attachments: readonly Attachment[];
  approvals: Record<string, Decision>;
}

/** Bound of the document for the text of a message. */
export const MAX_MESSAGE_CHARACTERS = 32_000;
/** What stdin may have at most: a character has at most four bytes. */
const MAX_STDIN_BYTES = 4 * MAX_MESSAGE_CHARACTERS + 1024;

/**
 * Sends one message. The answer goes to stdout as it comes, as it is in a pipe; what the agent did goes to stderr. With `--json` stdout has
 * one object when the turn is over.
 */
export async function sendOne(context: Context, session: ChatSession, message: OneMessage): Promise<void> {
  const { io, flags, say, write, print } = context;
  const plain = new PlainStream();
  let text = '';
  const debug = await session.send(
    { ...message, ...(Object.keys(message.approvals).length > 0 ? {} : { approvals: undefined }) },
    {
      signal: context.signal,
      async text(piece) {
        text += piece;
        if (!flags.json) await write(context.isForPeople ? plain.push(piece) : piece);
      },
    },
  );
  if (flags.json) return await print({ conversationId: session.conversationId, text, ...debug });
  await write(`${context.isForPeople ? plain.end() : ''}${text.endsWith('\n') ? '' : '\n'}`);
  const colours = coloursOf(io.stderr, io.env);
  for (const call of debug.toolCalls) sayStyled(io, toolCallLine(call, colours));
  for (const [index, call] of debug.pendingApprovals.entries()) {
    sayStyled(io, waitingLine(call, index + 1, colours));
    say(`  --approve ${call.publicId}  or  --reject ${call.publicId}`);
  }
  sayStyled(io, colours.dim(`Continue with --conversation ${session.conversationId}`));
}

/** The message that came through a pipe, without the line break at its end. */
export async function messageFromStdin({ io }: Context): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of io.stdin) {
    const chunk = typeof part === 'string' ? Buffer.from(part) : (part as Buffer);
    bytes += chunk.length;
    if (bytes > MAX_STDIN_BYTES)
      throw usage(
        `A message has at most ${MAX_MESSAGE_CHARACTERS} characters, and stdin has more.`,
        'Attach it as a file: --file PATH.',
      );
    parts.push(chunk);
  }
  const text = Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text.includes('\u0000'))
    throw usage('stdin has binary data, and a message is text.', 'Attach it as a file: --file PATH.');
  return text;
}
