import type { Output } from '../../sdk/index.ts';
import type { Context } from '../context.ts';
import { Failure, failureText, toFailure } from '../failure.ts';
import { type Colours, coloursOf } from '../terminal/colours.ts';
import { PlainStream, plainLine, plainText } from '../terminal/plain.ts';
import { type Attachment, attachmentOf, checkTogether } from './attachments.ts';
import { TypedLines } from './lines.ts';
import { sayStyled, toolCallLine, waitingLine } from './notices.ts';
import type { ChatSession, Decision, Said } from './session.ts';

const HELP: [string, string][] = [
  ['/file PATH', 'attach a file of this machine, or an address, to the next message'],
  ['/approve [N]', 'approve the calls that wait, or the one with that number'],
  ['/reject [N]', 'reject them'],
  ['/history [N]', 'show the last messages, as they are stored'],
  ['/new', 'begin another conversation'],
  ['/exit', 'leave; so does Ctrl-D'],
];
const DEFAULT_HISTORY = 20;
const MAX_HISTORY = 100;

/** A chat on a terminal, until the user leaves it. */
export class InteractiveChat {
  readonly #context: Context;
  readonly #session: ChatSession;
  readonly #agent: Output<'getAgent'>;
  readonly #out: Colours;
  readonly #err: Colours;
  #attachments: Attachment[];
  /** The last key was a Ctrl-C: the next one ends the chat. */
  #leaving = false;

  constructor(context: Context, session: ChatSession, agent: Output<'getAgent'>, attachments: Attachment[]) {
    this.#context = context;
    this.#session = session;
    this.#agent = agent;
    this.#attachments = attachments;
    this.#out = coloursOf(context.io.stdout, context.io.env);
    this.#err = coloursOf(context.io.stderr, context.io.env);
  }

  /** Talks until the user leaves. Throws what makes a further message useless, such as a key that was revoked. */
  async run(): Promise<void> {
    const { io, say } = this.#context;
    sayStyled(
      io,
      `You chat with ${this.#err.bold(plainLine(this.#agent.name))}. /help lists the commands, Ctrl-D leaves.`,
    );
    if (this.#session.conversationId !== undefined) await this.#showHistory(DEFAULT_HISTORY);
    const lines = new TypedLines(this.#context.io);
    try {
      for (;;) {
        const typed = await lines.next(this.#out.bold('> '));
        if (typed.kind === 'end') break;
        if (typed.kind === 'interrupt') {
          if (this.#leaving && !typed.hadText) break;
          this.#leaving = !typed.hadText;
          if (this.#leaving) say('Ctrl-C once more leaves.');
          continue;
        }
        this.#leaving = false;
        const text = typed.text.trim();
        if (text === '/exit' || text === '/quit') break;
        if (text !== '') await this.#answer(text);
      }
    } finally {
      lines.close();
    }
    if (this.#session.conversationId !== undefined)
      say(`To go on: guildhall agents chat ${this.#agent.publicId} --conversation ${this.#session.conversationId}`);
  }

  /** What was typed: a command of the chat, or a message. Words that the chat does not know may be commands of the agent. */
  async #answer(text: string): Promise<void> {
    const [word = '', ...rest] = text.split(' ');
    const argument = rest.join(' ').trim();
    try {
      if (word === '/help') await this.#help();
      else if (word === '/file') await this.#attach(argument);
      else if (word === '/history') await this.#showHistory(countOf(argument, DEFAULT_HISTORY));
      else if (word === '/approve') await this.#decide('approve', argument);
      else if (word === '/reject') await this.#decide('reject', argument);
      else if (word === '/new') this.#begin();
      else await this.#send({ content: text });
    } catch (error) {
      const failure = toFailure(error);
      // Without a key that counts, or with nobody to read, there is nothing to stay for.
      if (failure.exitCode === 4 || (failure.code === 'internal' && !(error instanceof Failure))) throw error;
      this.#context.say(failureText(failure).replace(/^guildhall: /, ''));
    }
  }

  async #send(said: Said): Promise<void> {
    const { io, say, write } = this.#context;
    checkTogether(this.#attachments);
    const stop = new AbortController();
    const forget = io.onInterrupt(() => stop.abort());
    const plain = new PlainStream();
    let last = '\n';
    try {
      const debug = await this.#session.send(
        { ...said, attachments: this.#attachments },
        {
          signal: stop.signal,
          async text(piece) {
            const text = plain.push(piece);
            // What comes with the last piece after a Ctrl-C is not shown.
            if (stop.signal.aborted || text === '') return;
            last = text;
            await write(text);
          },
        },
      );
      this.#attachments = [];
      await write(`${plain.end()}${last.endsWith('\n') ? '' : '\n'}`);
      for (const call of debug.toolCalls) sayStyled(io, toolCallLine(call, this.#err));
      this.#showPending();
    } catch (error) {
      if (!last.endsWith('\n')) await write('\n');
      if (!stop.signal.aborted) {
        this.#keepFilesAfter(error);
        throw error;
      }
      this.#attachments = [];
      this.#leaving = true;
      say('Stopped. The agent still finishes this turn, and /history shows it. Ctrl-C once more leaves.');
    } finally {
      forget();
    }
  }

  /** After an outage the files go with the next try. Files that the service refuses would make every further message fail. */
  #keepFilesAfter(error: unknown): void {
    const { status = 500 } = toFailure(error);
    if (status >= 500 || this.#attachments.length === 0) return;
    this.#attachments = [];
    this.#context.say('The files do not go with the next message.');
  }

  async #decide(decision: Decision, argument: string): Promise<void> {
    const { pending } = this.#session;
    if (pending.length === 0) throw refused('No call waits for a decision.');
    const number = argument === '' ? undefined : Number(argument);
    const chosen = number === undefined ? pending : pending.filter((_, index) => index === number - 1);
    if (chosen.length === 0) throw refused(`No call with the number ${argument} waits. There are ${pending.length}.`);
    const approvals = Object.fromEntries(chosen.map(({ publicId }) => [publicId, decision]));
    await this.#send({ content: decisionText(approvals), approvals });
  }

  async #attach(argument: string): Promise<void> {
    const path = argument.replace(/^(["'])(.*)\1$/, '$2');
    if (path === '') throw refused('/file needs the path of a file, or an address.');
    const attachment = await attachmentOf(path, this.#context.io.cwd);
    checkTogether([...this.#attachments, attachment]);
    this.#attachments.push(attachment);
    this.#context.say(`${plainLine(path)} goes with the next message.`);
  }

  #begin(): void {
    this.#session.reset();
    this.#context.say('The next message begins another conversation.');
  }

  #showPending(): void {
    const { pending } = this.#session;
    if (pending.length === 0) return;
    for (const [index, call] of pending.entries()) sayStyled(this.#context.io, waitingLine(call, index + 1, this.#err));
    this.#context.say(
      '/approve or /reject decides, in the name of the workspace. Any other message may withdraw the calls: where an operator decides, they wait on.',
    );
  }

  async #help(): Promise<void> {
    const { api, say } = this.#context;
    const widest = Math.max(...HELP.map(([command]) => command.length));
    for (const [command, what] of HELP) say(`  ${command.padEnd(widest)}  ${what}`);
    const commands = await (await api()).call('listCommands', { path: { agentPublicId: this.#agent.publicId } });
    const active = commands.filter(({ status }) => status === 'active');
    if (active.length === 0) return;
    say('Commands of the agent:');
    for (const { command, name } of active) say(`  /${plainLine(command)}  ${plainLine(name)}`);
  }

  async #showHistory(count: number): Promise<void> {
    const { io, api, write } = this.#context;
    const { conversationId } = this.#session;
    if (conversationId === undefined) throw refused('Nothing was said in this conversation yet.');
    const { items, total } = await (await api()).call('listConversationMessages', {
      path: { conversationPublicId: conversationId },
      query: { order: 'desc', limit: count },
    });
    if (total > items.length) sayStyled(io, this.#err.dim(`The last ${items.length} of ${total} messages.`));
    for (const { role, content } of items.reverse()) {
      const text = plainText(content);
      await write(`${role === 'user' ? this.#out.dim(`> ${text}`) : text}\n`);
    }
  }
}

/**
 * The text of a message that decides on calls by their ids. It is no plain yes or no, which would decide on the calls that are not named,
 * too.
 */
export function decisionText(approvals: Record<string, Decision>): string {
  const decisions = Object.values(approvals);
  const approved = decisions.filter((decision) => decision === 'approve').length;
  const parts = [
    ...(approved > 0 ? [`${approved} approved`] : []),
    ...(decisions.length > approved ? [`${decisions.length - approved} rejected`] : []),
  ];
  return `Decision on tool calls: ${parts.join(', ')}.`;
}

function countOf(argument: string, otherwise: number): number {
  if (argument === '') return otherwise;
  const count = Number(argument);
  if (!Number.isInteger(count) || count < 1 || count > MAX_HISTORY)
    throw refused(`/history takes a number from 1 to ${MAX_HISTORY}.`);
  return count;
}

function refused(message: string): Failure {
  return new Failure('usage', 2, message);
}
