import { readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import type { Request, Response } from 'express';
import type { Options } from 'multer';
import { type ApiError, fault, invalid } from '../../core/errors.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import { makeTemporaryFolder } from '../../core/temporary.ts';
import type { UploadedFile } from '../../handlers/handler.ts';
import { checkStorable } from './storable.ts';

/** Largest part that is not the file, in bytes: the parts of the contract are a few hundred characters. */
const PART_BYTES = 64 * 1024;
/** Bytes that a form may have beyond its file: other parts, headers, boundaries, a preamble. */
const FORM_BYTES = 512 * 1024;
/** A client that sends nothing for so long is taken for gone, even if its connection is still open. */
const IDLE_MS = 30_000;
const NAME_CHARACTERS = 255;

/** The parts that the form of an operation may have by the document. */
export interface FormShape {
  /** Largest file, in bytes: `x-max-bytes` of the part `file`. */
  maxBytes: number;
  /** The parts beside `file`, and how their text is read. */
  parts: ReadonlyMap<string, 'json' | 'text'>;
}

/** A form that has arrived, not validated yet. */
export interface Form {
  /** Absent when the form has none: the schema says whether it must. */
  file: UploadedFile | undefined;
  /** The other parts, JSON parsed. */
  fields: Record<string, unknown>;
  /** Removes the temporary files. Never rejects: files that cannot be removed now are removed with the leftovers. */
  discard(): Promise<void>;
}

/** Where the files of forms are stored during a request, and how long the server waits for a silent client. */
export interface UploadOptions {
  dir: string;
  idleMs?: number;
}

/**
 * Reads a `multipart/form-data` request (RFC 7578): the file to a temporary folder, the rest to memory. Throws
 * VALIDATION_ERROR, which names the part, or PAYLOAD_TOO_LARGE; then nothing is left in the folder.
 */
export async function readForm(request: IncomingMessage, shape: FormShape, options: UploadOptions): Promise<Form> {
  const delimiter = delimiterOf(request);
  if (Number(request.headers['content-length'] ?? 0) > shape.maxBytes + FORM_BYTES) throw tooLarge(shape);
  const folder = await makeTemporaryFolder(options.dir);
  const discard = () => rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  try {
    const { texts, files } = await receive(request, shape, { ...options, folder, delimiter });
    const fields: Record<string, unknown> = Object.create(null);
    for (const [name, kind] of shape.parts) {
      const text = texts[name] ?? (files[name]?.[0] && (await readPart(name, files[name][0])));
      if (text !== undefined) fields[name] = kind === 'json' ? parsePart(name, text) : text;
    }
    checkStorable(fields, '/body');
    return { file: files.file?.[0] && describe(files.file[0]), fields, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

function tooLarge({ maxBytes }: FormShape): ApiError {
  return fault('PAYLOAD_TOO_LARGE', `The file is over its limit of ${maxBytes} bytes.`);
}

/** The bytes before each part; the first part may lack their line break. Throws when the request has no boundary by RFC 2046. */
function delimiterOf(request: IncomingMessage): Buffer {
  const found = /;\s*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'+.-]{1,70}))\s*(?:;|$)/i.exec(
    request.headers['content-type'] ?? '',
  );
  const boundary = found?.[1] ?? found?.[2];
  if (!boundary) throw invalid('/body', 'needs a Content-Type with a boundary of 1 to 70 characters', 'parse');
  return Buffer.from(`\r\n--${boundary}`, 'latin1');
}

interface ReceivedForm {
  texts: Record<string, string | undefined>;
  files: Record<string, Express.Multer.File[] | undefined>;
}

/** Lets multer parse the request, and ends it at the first fault: multer itself would read to the end first. */
async function receive(
  request: IncomingMessage,
  shape: FormShape,
  { folder, delimiter, idleMs = IDLE_MS }: UploadOptions & { folder: string; delimiter: Buffer },
): Promise<ReceivedForm> {
  // Loaded at the first form.
  const { default: multer } = await import('multer');
  // multer gets a stream of its own, which can be ended without the connection that the answer needs.
  const delimiters = counterOf(delimiter);
  let size = 0;
  const form = Object.assign(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        idle.refresh();
        size += chunk.length;
        delimiters.count(chunk);
        if (size > shape.maxBytes + FORM_BYTES) refuse(tooLarge(shape));
        else done(null, chunk);
      },
    }),
    { headers: request.headers, body: {} as ReceivedForm['texts'], files: {} as ReceivedForm['files'] },
  );
  let failure: ApiError | undefined;
  const refuse = (error: ApiError) => {
    failure ??= error;
    form.destroy(failure);
  };
  const lost = () => {
    if (!request.readableEnded) refuse(invalid('/body', 'ended before it was complete', 'parse'));
  };
  const idle = setTimeout(
    () => refuse(invalid('/body', `stopped for ${Math.round(idleMs / 1000)} seconds before it was complete`, 'parse')),
    idleMs,
  );
  const parts = partsOf(shape, refuse);
  const read = multer({
    limits: {
      fileSize: shape.maxBytes,
      // One more than allowed: the error of `partsOf` names the part, multer's only says that there are too many.
      files: 2 + shape.parts.size,
      fields: 1 + shape.parts.size,
      parts: 2 + shape.parts.size,
      fieldNameSize: 100,
      fieldSize: PART_BYTES,
      headerPairs: 20,
      fieldNestingDepth: 0,
      fieldArrayIndexLimit: 0,
    },
    defParamCharset: 'utf8',
    storage: multer.diskStorage({
      destination: (_request, _file, done) => done(null, folder),
      filename: (_request, file, done) => done(null, file.fieldname),
    }),
    streamHandler(_request: unknown, parser: NodeJS.WritableStream) {
      parts.watch(parser);
      // multer is done with it, well or badly, and would wait for the client to send the rest.
      parser.once('unpipe', () => form.destroy());
      form.pipe(parser);
      request.pipe(form);
      // The connection may have been closed before the listeners were added.
      if (request.destroyed) lost();
    },
  } as Options).fields(['file', ...shape.parts.keys()].map((name) => ({ name, maxCount: 1 })));
  request.on('error', lost).on('close', lost);
  try {
    await new Promise<void>((resolve, reject) => {
      read(form as unknown as Request, undefined as unknown as Response, (error: unknown) => {
        if (failure || error) reject(failure ?? toFault(error, shape));
        else resolve();
      });
    });
  } finally {
    clearTimeout(idle);
    request.off('error', lost).off('close', lost).unpipe(form);
    // The rest of the request is read and dropped: many clients read no response before they have sent everything.
    request.resume();
  }
  if (delimiters.found() - 1 !== parts.found()) throw invalid('/body', 'has a part without a valid header', 'parse');
  return { texts: form.body, files: form.files };
}

/** Counts the delimiters of a form: busboy passes over parts whose header it does not understand, without a word. */
function counterOf(delimiter: Buffer) {
  const overlap = delimiter.length - 1;
  let count = 0;
  // The first delimiter may stand at the very beginning, without its line break.
  let rest: Buffer = Buffer.from('\r\n');
  const countIn = (bytes: Buffer) => {
    for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + 1)) count += 1;
  };
  return {
    count(chunk: Buffer) {
      const seam = Buffer.concat([rest, chunk.subarray(0, overlap)]);
      countIn(seam);
      countIn(chunk);
      rest = Buffer.from((chunk.length < overlap ? seam : chunk).subarray(-overlap));
    },
    found: () => count,
  };
}

/** Refuses the parts that the form must not have as soon as their header is read. */
function partsOf(shape: FormShape, refuse: (error: ApiError) => void) {
  const seen = new Set<string>();
  const meet = (name: string | undefined, encoding: string, fileName?: string) => {
    if (name === undefined) return refuse(invalid('/body', 'has a part without a name', 'parse'));
    const kind = name === 'file' ? 'file' : shape.parts.get(name);
    const path = `/body/${pointerStep(name.slice(0, 100))}`;
    if (!kind) return refuse(invalid(path, 'is not a known field', 'additionalProperties'));
    if (seen.has(name)) return refuse(invalid(path, 'is sent more than once'));
    seen.add(name);
    if (kind === 'file' && !fileName) return refuse(nameless());
    // Without a name multer would pass over it.
    if (kind !== 'file' && (kind === 'text' ? fileName !== undefined : fileName === '')) {
      return refuse(invalid(path, 'must be text, not a file', 'type'));
    }
    // It is not decoded (RFC 7578, 4.7): the stored bytes would differ from the file.
    if (!['7bit', '8bit', 'binary'].includes(encoding)) {
      return refuse(invalid(path, 'must not have a Content-Transfer-Encoding', 'encoding'));
    }
  };
  type Info = { filename?: string; encoding: string };
  return {
    watch(parser: NodeJS.WritableStream) {
      // Called before multer's own listeners, whose errors say less.
      parser.prependListener('field', (name: string | undefined, _value: unknown, info: Info) =>
        meet(name, info.encoding),
      );
      parser.prependListener('file', (name: string | undefined, content: Readable, info: Info) => {
        // multer would wait for the end of the part.
        content.once('limit', () => refuse(tooLarge(shape)));
        meet(name, info.encoding, info.filename ?? '');
      });
    },
    found: () => seen.size,
  };
}

/** The contract's error for one of multer, whose errors are no `Error` to `Error.isError`, of busboy or the file system. */
function toFault(error: unknown, shape: FormShape): unknown {
  const { code, field, syscall, message } = error as NodeJS.ErrnoException & { field?: string };
  if (syscall !== undefined) return error;
  if (code === 'LIMIT_FILE_SIZE') return tooLarge(shape);
  if (code === 'LIMIT_FIELD_VALUE') return partTooLarge(field ?? '');
  return invalid('/body', `is not a valid form: ${message}`, 'parse');
}

function partTooLarge(name: string): ApiError {
  return fault('PAYLOAD_TOO_LARGE', `The part ${name} is over its limit of ${PART_BYTES} bytes.`);
}

/** The text of a part that came with a file name, as browsers send a Blob. */
async function readPart(name: string, part: Express.Multer.File): Promise<string> {
  if (part.size > PART_BYTES) throw partTooLarge(name);
  return (await readFile(part.path)).toString();
}

function parsePart(name: string, text: string): unknown {
  // Where the bytes were no UTF-8 there is a replacement character now.
  if (text.includes('\uFFFD')) throw invalid(`/body/${name}`, 'must be UTF-8, without U+FFFD', 'encoding');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`/body/${name}`, Error.isError(error) ? error.message : 'must be JSON', 'parse');
  }
}

function describe({ path, originalname, size, mimetype }: Express.Multer.File): UploadedFile {
  const name = nameOf(originalname);
  if (name === '') throw nameless();
  return { path, name, sizeBytes: size, mediaType: mimetype };
}

function nameless(): ApiError {
  return invalid('/body/file', 'must be a file with a name', 'type');
}

/** The file name without folders and control characters, shortened before its extension if too long; '' when nothing remains. */
function nameOf(given: string): string {
  const whole = given
    .toWellFormed()
    // Direction marks make `exe.jpg` look like `gpj.exe`.
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
    .replace(/^.*[/\\]/, '');
  // Composing takes quadratic time for a run of accents, 80 ms for as many as a head of a part can have.
  const kept =
    whole.length > 4 * NAME_CHARACTERS
      ? whole.slice(0, 2 * NAME_CHARACTERS) + whole.slice(-2 * NAME_CHARACTERS)
      : whole;
  const name = kept.toWellFormed().normalize('NFC').trim();
  if (name === '.' || name === '..') return '';
  const extension = extname(name);
  const stem = [...name.slice(0, name.length - extension.length)];
  const room = NAME_CHARACTERS - [...extension].length;
  return room > 0 ? stem.slice(0, room).join('') + extension : [...name].slice(0, NAME_CHARACTERS).join('');
}
