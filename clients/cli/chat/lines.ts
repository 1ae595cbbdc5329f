import { createInterface, type Interface } from 'node:readline';
import type { Io } from '../io.ts';

/** What came from the keyboard: a message, a Ctrl-C at the prompt, or the end of the input (Ctrl-D). */
export type Typed = { kind: 'line'; text: string } | { kind: 'interrupt'; hadText: boolean } | { kind: 'end' };

/** A terminal that knows them puts marks around a paste, while this is on. */
const PASTE_MARKS_ON = '\u001b[?2004h';
const PASTE_MARKS_OFF = '\u001b[?2004l';

/**
 * Reads messages from a terminal, with the line editing and the history of readline. The lines of a paste are one message, with what is
 * typed behind it; so are lines that end with `\`.
 */
export class TypedLines {
  readonly #io: Io;
  readonly #readline: Interface;
  #lines: string[] = [];
  #pasting = false;
  #pasted: string[] = [];
  #ended = false;
  #interrupted: boolean | undefined;
  #wake: (() => void) | undefined;

  constructor(io: Io) {
    this.#io = io;
    this.#readline = createInterface({ input: io.stdin, output: io.stdout, terminal: true, historySize: 200 });
    io.stdin.on('keypress', (_text: unknown, key: { name?: string } | undefined) => {
      if (key?.name === 'paste-start') this.#pasting = true;
      if (key?.name === 'paste-end') this.#pasting = false;
    });
    this.#readline.on('line', (line) => {
      if (this.#pasting) return void this.#pasted.push(line);
      this.#lines.push([...this.#pasted.splice(0), line].join('\n'));
      // Without marks, the lines of a paste come in one turn of the event loop.
      setImmediate(() => this.#wake?.());
    });
    this.#readline.on('SIGINT', () => {
      this.#interrupted = this.#readline.line !== '' || this.#lines.length > 0 || this.#pasted.length > 0;
      this.#lines = [];
      this.#pasted = [];
      this.#pasting = false;
      this.#wake?.();
    });
    this.#readline.on('close', () => {
      this.#ended = true;
      this.#wake?.();
    });
    this.rest();
  }

  /**
   * Waits for the next message. With one, the keyboard goes back to the terminal, so that a turn can run. After a Ctrl-C it stays with
   * readline: the next Ctrl-C may come before the next call, and as a signal it would end the process.
   */
  async next(prompt: string): Promise<Typed> {
    this.#setRaw(true);
    this.#readline.setPrompt(prompt);
    this.#readline.resume();
    if (!this.#ended) this.#readline.prompt();
    const typed = await this.#typed();
    if (typed.kind !== 'interrupt') this.rest();
    return typed;
  }

  async #typed(): Promise<Typed> {
    let text = '';
    for (;;) {
      await this.#something();
      if (this.#interrupted !== undefined) return this.#interrupt(text);
      const lines = this.#lines.splice(0);
      if (lines.length === 0) {
        this.#io.stdout.write('\n');
        return text === '' ? { kind: 'end' } : { kind: 'line', text };
      }
      text += lines.join('\n');
      if (!text.endsWith('\\') || this.#ended) return { kind: 'line', text };
      text = `${text.slice(0, -1)}\n`;
      this.#readline.setPrompt('… ');
      this.#readline.prompt();
    }
  }

  /** Gives the keyboard back to the terminal, so that Ctrl-C is a signal while a turn runs. */
  rest(): void {
    if (this.#ended) return;
    this.#readline.pause();
    this.#setRaw(false);
  }

  /** Leaves the terminal as it was found. */
  close(): void {
    this.rest();
    this.#readline.close();
  }

  #interrupt(text: string): Typed {
    const hadText = this.#interrupted === true || text !== '';
    this.#interrupted = undefined;
    // The line that was begun is dropped, as a shell does.
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
    this.#io.stdout.write('\n');
    return { kind: 'interrupt', hadText };
  }

  async #something(): Promise<void> {
    if (this.#lines.length > 0 || this.#interrupted !== undefined || this.#ended) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  #setRaw(on: boolean): void {
    if (this.#ended) return;
    this.#io.stdin.setRawMode?.(on);
    if (this.#io.env.TERM !== 'dumb') this.#io.stdout.write(on ? PASTE_MARKS_ON : PASTE_MARKS_OFF);
  }
}
