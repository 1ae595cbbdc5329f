import { createHash } from 'node:crypto';

// The last line of a guide holds a digest of the lines before it, so that every version can tell whether its user changed it.
const SEAL = /\n<!-- guildhall \S+ ([0-9a-f]{16}) -->\n*$/;

/** The text as it is written: with its seal. It ends with a line end. */
export function sealed(text: string, version: string): string {
  return `${text}<!-- guildhall ${version} ${digest(text)} -->\n`;
}

/** Whether the text is as some version wrote it. */
export function isSealed(text: string): boolean {
  const seal = SEAL.exec(text);
  return seal !== null && digest(text.slice(0, seal.index + 1)) === seal[1];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
