import { Failure } from './failure.ts';
import type { Io } from './io.ts';

/** What some terminals put around a paste. */
const PASTE_MARKS = ['\u001B[200~', '\u001B[201~'];

/**
 * One line from the terminal, without its end. `ask` writes the question, when the echo is off already: people and programs answer at once. `hidden` turns the terminal's echo off while it is typed or pasted, and what follows the line in
 * the same paste is dropped.
 * @throws Failure `cancelled` at Ctrl-C (130), and when the input ends before the line does (1).
 */
export async function readAnswer(
  io: Io,
  { hidden, ask }: { hidden: boolean; ask: () => Promise<void> },
): Promise<string> {
  const { stdin } = io;
  const raw = hidden && typeof stdin.setRawMode === 'function';
  if (raw) stdin.setRawMode?.(true);
  try {
    await ask();
    return await new Promise<string>((resolve, reject) => {
      let text = '';
      const decoder = new TextDecoder();
      const end = (settle: () => void) => {
        stdin.off('data', onData).off('end', onEnd).off('error', onEnd);
        stdin.pause();
        settle();
      };
      const onEnd = () => end(() => reject(new Failure('cancelled', 1, 'The input ended before the answer.')));
      const onData = (chunk: Buffer | string) => {
        text = typed(text + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })), raw);
        const [line, rest] = text.split(/[\r\n]/, 2);
        if (raw && text.includes('\u0003')) end(() => reject(new Failure('cancelled', 130, 'Cancelled.')));
        else if (raw && text.startsWith('\u0004')) onEnd();
        else if (rest !== undefined) end(() => resolve(line ?? ''));
      };
      stdin.on('data', onData).on('end', onEnd).on('error', onEnd);
      stdin.resume();
    });
  } finally {
    if (raw) stdin.setRawMode?.(false);
  }
}

/** What was typed, after the keys that a raw terminal leaves to the program: backspace, Ctrl-U and the marks of a paste. */
function typed(text: string, raw: boolean): string {
  if (!raw) return text;
  let kept = '';
  for (const character of PASTE_MARKS.reduce((rest, mark) => rest.replaceAll(mark, ''), text)) {
    if (character === '\u007F' || character === '\b') kept = kept.slice(0, -1);
    else if (character === '\u0015') kept = '';
    else kept += character;
  }
  return kept;
}
