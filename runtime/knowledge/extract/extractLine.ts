import type { Passage } from '../passages.ts';

/** A line of the output of child.ts, as JSON: the passages in order, then the end. */
export type ExtractLine =
  | { passage: Passage }
  /** The file was read completely: the number of its passages. */
  | { end: number }
  /** The file cannot be used; a sentence for the person who uploaded it. `cause`: the name of the parser's error. */
  | { unreadable: string; cause: string | null };
