/** The fields of one server in a client's file, as the file has them. */
export type EntryFields = Record<string, unknown>;

/**
 * How a client's configuration file holds its MCP servers: an object (or table) of servers by name. Every function takes the whole text,
 * without a byte order mark, and throws UnreadableConfig when the text cannot be read or cannot be changed safely.
 */
export interface ConfigFormat {
  /** The server's fields; undefined when the file has no such server. An empty text has none. */
  read(text: string, section: string, name: string): EntryFields | undefined;
  /**
   * The text with exactly these fields for the server. What is equal already stays byte for byte, and so does everything that is not of
   * this server. An empty text becomes a new file.
   */
  write(text: string, section: string, name: string, fields: EntryFields): string;
  /** The text without the server. Everything else stays byte for byte. */
  remove(text: string, section: string, name: string): string;
}

/** A client's file that is left as it is. The message is a sentence's end: "is not valid JSON (line 3): …". */
export class UnreadableConfig extends Error {}

/** The line break that the text uses most. */
export function lineBreak(text: string): '\r\n' | '\n' {
  const all = text.match(/\n/g)?.length ?? 0;
  const windows = text.match(/\r\n/g)?.length ?? 0;
  return windows * 2 > all ? '\r\n' : '\n';
}

/** The 1-based line of an offset, for messages. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** One replacement in a text: `length` characters at `offset` become `text`. */
export interface TextEdit {
  offset: number;
  length: number;
  text: string;
}

/** Applies edits that do not overlap. Of two insertions at one place the earlier in the list comes first. */
export function applied(text: string, edits: TextEdit[]): string {
  let result = '';
  let end = 0;
  for (const edit of edits.toSorted((a, b) => a.offset - b.offset)) {
    result += text.slice(end, edit.offset) + edit.text;
    end = edit.offset + edit.length;
  }
  return result + text.slice(end);
}
