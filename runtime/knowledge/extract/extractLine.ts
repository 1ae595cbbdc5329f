import type { Passage } from '../passages.ts';

/** A line of the output of child.ts, as JSON: the passages in their order, then how it ended. */
export type ExtractLine =
  | { passage: Passage }
  /** All was read: how many passages there were. */
  | { end: number }
  /** The file cannot be used; a sentence for the person who uploaded it. `cause`: the name of the parser's error. */
  | { unreadable: string; cause: string | null };
