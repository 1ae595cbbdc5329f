import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { decodedText } from '../login/text.ts';
import { Failure, usage } from './failure.ts';
import type { Io } from './io.ts';

/** Larger bodies are refused by the service; files go by other ways. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** The whole input, as bytes. */
export async function readBytes(stdin: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    length += bytes.length;
    if (length > MAX_INPUT_BYTES) throw usage('The input has more than 64 MiB.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** The body that a person wrote as JSON: its text, and its value. Byte order marks and line ends of Windows do no harm. */
export function jsonBody(content: string | Buffer): { text: string; value: unknown } {
  const text = (typeof content === 'string' ? content : decodedText(content)).replace(/^\uFEFF/, '');
  return { text, value: parseJson(text, '--body') };
}

/** The whole input as text. */
export async function readText(stdin: Readable): Promise<string> {
  return decodedText(await readBytes(stdin));
}

/**
 * What `--body` means: text as it stands, `@file` that file, `-` (or `@-`) the input. Bytes stay as they are.
 * @throws Failure (2) when the file cannot be read
 */
export async function readBody(io: Io, value: string): Promise<string | Buffer> {
  if (value === '-' || value === '@-') return await readBytes(io.stdin);
  if (!value.startsWith('@')) return value;
  return await readFileOf(io, value.slice(1));
}

/** @throws Failure `bad_file` (2) when it cannot be read */
export async function readFileOf(io: Io, path: string): Promise<Buffer> {
  const file = isAbsolute(path) ? path : join(io.cwd, path);
  return await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Failure('bad_file', 2, `The file ${file} cannot be read: ${reason(error)}.`);
  });
}

/** Why the system refused, in words where they are few. */
export function reason({ code, message }: NodeJS.ErrnoException): string {
  const words: Record<string, string> = {
    ENOENT: 'it does not exist',
    EACCES: 'you may not',
    EPERM: 'you may not',
    EISDIR: 'it is a folder',
    ENOSPC: 'the disk is full',
  };
  return words[code ?? ''] ?? code ?? message;
}

/**
 * A JSON value from a text: a byte order mark and line ends of Windows do no harm.
 * @throws Failure (2) naming `what`, with the place where the text stops being JSON
 */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw usage(`${what} is not JSON: ${(error as Error).message}.`, 'In a shell, put JSON into single quotes.');
  }
}
