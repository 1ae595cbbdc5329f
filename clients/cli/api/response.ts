import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Context } from '../context.ts';
import { exitCodeOf, Failure, hintFor } from '../failure.ts';
import { reason } from '../input.ts';
import { PlainStream } from '../terminal/plain.ts';
import type { ApiOptions } from './request.ts';

/** An error's body is read to here: the API's are small, and a proxy may send anything. */
const MAX_ERROR_CHARACTERS = 1_000_000;

/** The failure that a response with an error status stands for. */
export async function failureOf(response: Response): Promise<Failure> {
  const { status } = response;
  const text = (await response.text().catch(() => '')).slice(0, MAX_ERROR_CHARACTERS);
  const error = apiError(text);
  const code = error?.code ?? 'UNREADABLE_RESPONSE';
  return new Failure(
    code,
    exitCodeOf(status),
    error?.message ?? `The answer has the status ${status} and is not the API's.`,
    {
      hint: hintFor(status, code),
      status,
      requestId: error?.requestId ?? response.headers.get('x-request-id') ?? undefined,
      details: error?.details,
    },
  );
}

interface ApiErrorBody {
  code: string;
  message: string;
  details?: unknown;
  requestId?: string;
}

function apiError(text: string): ApiErrorBody | undefined {
  try {
    const body = JSON.parse(text);
    const error = body?.error ?? body;
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the body as it comes, after status and headers when they are asked for. Throws the failure that an error status stands for. */
export async function writeResponse(
  context: Context,
  response: Response,
  { include, output }: ApiOptions,
): Promise<void> {
  if (include) await context.write(head(response));
  if (!response.ok) throw await failureOf(response);
  if (output !== undefined && output !== '-') return await writeFileOf(context, response, output);
  if (!context.isTerminal || output === '-') return await copy(response, (chunk) => context.write(chunk));
  const type = response.headers.get('content-type') ?? '';
  if (/\bjson\b/.test(type)) {
    const text = await response.text();
    return await context.write(`${pretty(text)}\n`);
  }
  await writeText(context, response);
}

function head({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP ${status} ${statusText}`.trim(), ...lines].join('\n')}\n\n`;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Text on a terminal as it comes, without what would drive the terminal. Bytes that are no text are refused. */
async function writeText(context: Context, response: Response): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const plain = new PlainStream();
  const refuse = () =>
    new Failure('binary_output', 2, 'The answer is no text, and a terminal cannot show it.', {
      hint: 'Pass --output FILE to save it, or --output - to write it here all the same.',
    });
  await copy(response, async (chunk) => {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw refuse();
    }
    if (text.includes('\0')) throw refuse();
    await context.write(plain.push(text));
  });
  await context.write(plain.end());
}

/** Writes a file as a whole or not at all. */
async function writeFileOf(context: Context, response: Response, output: string): Promise<void> {
  const file = isAbsolute(output) ? output : join(context.io.cwd, output);
  const release = context.cancelOnInterrupt();
  const fresh = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(fresh, 'wx').catch((error) => {
      throw cannotWrite(file, error);
    });
    let bytes = 0;
    try {
      await copy(response, async (chunk) => {
        bytes += chunk.length;
        await handle.writeFile(chunk).catch((error) => {
          throw cannotWrite(file, error);
        });
      });
    } finally {
      await handle.close();
    }
    await rename(fresh, file).catch((error) => {
      throw cannotWrite(file, error);
    });
    context.say(`Wrote ${bytes} bytes to ${file}.`);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  } finally {
    release();
  }
}

function cannotWrite(file: string, error: NodeJS.ErrnoException): Failure {
  return new Failure('cannot_write', 1, `${file} cannot be written: ${reason(error)}.`);
}

async function copy(response: Response, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  if (!response.body) return;
  // Leaving the loop early closes the connection.
  for await (const chunk of response.body) await write(chunk);
}
