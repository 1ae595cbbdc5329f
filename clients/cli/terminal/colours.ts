import type { Writable } from 'node:stream';

/** The colours that the command line uses, by what they say. */
export interface Colours {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  waiting(text: string): string;
}

const ESC = '\u001b[';
const wrapped = (open: number, close: number) => (text: string) =>
  text === '' ? '' : `${ESC}${open}m${text}${ESC}${close}m`;
const same = (text: string) => text;

const COLOURED: Colours = {
  bold: wrapped(1, 22),
  dim: wrapped(2, 22),
  good: wrapped(32, 39),
  bad: wrapped(31, 39),
  waiting: wrapped(33, 39),
};
const PLAIN: Colours = { bold: same, dim: same, good: same, bad: same, waiting: same };

/**
 * The colours for one of the streams: none in a pipe or a file, none when `NO_COLOR` is set to anything (https://no-color.org), and none on
 * a terminal that says it is dumb.
 */
export function coloursOf(stream: Writable & { isTTY?: boolean }, env: Record<string, string | undefined>): Colours {
  return stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? COLOURED : PLAIN;
}
