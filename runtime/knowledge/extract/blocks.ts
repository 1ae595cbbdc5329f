/** A piece of a document in reading order. */
export interface Block {
  /** A row is a line of a table. Rows are joined by a line break, and are not repeated as overlap. */
  type: 'heading' | 'paragraph' | 'row';
  text: string;
  /** Of a heading, from 1. */
  level?: number;
  /** Of a row, the names of its columns. A passage that begins with the row begins with them. */
  header?: string;
  /** From 1, where the format has pages. */
  page?: number;
}

/** Reads a document block by block. Throws UnreadableFile. */
export type BlockReader = (content: Uint8Array<ArrayBuffer>) => AsyncIterable<Block> | Iterable<Block>;

/** A file that cannot be used as it is. The message is for the person who uploaded it and says what to do. */
export class UnreadableFile extends Error {}

/** Maximum characters of text in a source. A text file of the maximum size fits. */
export const MAX_TEXT_CHARS = 20 * 1024 * 1024;

/** The error for a file with more text. */
export function tooMuchText(): UnreadableFile {
  return new UnreadableFile(
    `The file has more than ${MAX_TEXT_CHARS / 1024 / 1024} million characters. Split it into smaller files.`,
  );
}
