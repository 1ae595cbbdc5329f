import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guildhall, Output } from '../../sdk/index.ts';
import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { type ExitCode, Failure, failureText, toFailure, usage } from '../failure.ts';
import { MAX_KNOWLEDGE_BYTES } from './limits.ts';
import { type LocalFile, localFiles, unreadable } from './localFiles.ts';
import { inPieces, showProgress } from './progress.ts';

type Source = Output<'createKnowledgeSource'>;

interface Options {
  name?: string;
  description?: string;
  agent?: string;
  wait?: boolean;
  waitSeconds: number;
}

/** What became of one file, as it is printed. */
interface Outcome {
  file: string;
  publicId: string | null;
  name: string | null;
  processingStatus: Source['processingStatus'] | null;
  linkedTo: string | null;
  error: { code: string; message: string } | null;
}

const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 3_000;
const DEFAULT_WAIT_SECONDS = 600;

/** `knowledge upload`: files become knowledge sources, one after the other. */
export const register: Register = (command, context) => {
  command
    .argument('<files...>', "files, or patterns such as 'docs/**/*.md': PDF, TXT, CSV, DOCX or MD, 20 MiB each")
    .option('--name <name>', 'name of the source, for one file; the name of the file without it')
    .option('--description <text>', 'what the files are about')
    .option('--agent <id>', 'link the sources to this agent')
    .option('--wait', 'wait until the files are read and indexed')
    .option('--wait-seconds <n>', 'how long to wait for all files together', positive, DEFAULT_WAIT_SECONDS)
    .addHelpText(
      'after',
      examples([
        'guildhall knowledge upload handbook.pdf --wait',
        "guildhall knowledge upload 'docs/**/*.md' --agent 0193a4c8-2b7e-7c11-9d1e-6f2a8b3c4d5e --wait",
      ]),
    )
    .action(async (args: string[], options: Options) => upload(context(), args, options));
};

async function upload(context: Context, args: string[], options: Options): Promise<void> {
  const files = await localFiles(args, context.io, MAX_KNOWLEDGE_BYTES);
  if (options.name !== undefined && files.length > 1)
    throw usage(
      `--name is for one file, and there are ${files.length}.`,
      'Without --name each has the name of its file.',
    );
  const api = await context.api();
  if (options.agent !== undefined) await api.call('getAgent', { path: { agentPublicId: options.agent } });

  const outcomes: Outcome[] = [];
  const failures: Failure[] = [];
  for (const [index, file] of files.entries()) {
    const outcome: Outcome = {
      file: file.shown,
      publicId: null,
      name: null,
      processingStatus: null,
      linkedTo: null,
      error: null,
    };
    outcomes.push(outcome);
    try {
      await uploadOne(context, api, file, options, outcome);
      context.say(`${count(index, files)}${file.shown}: ${outcome.linkedTo ? 'uploaded and linked' : 'uploaded'}.`);
    } catch (error) {
      const failure = note(outcome, error, failures);
      context.say(`${count(index, files)}${file.shown}: ${failureText(failure).replace(/^guildhall: /, '')}`);
      // The next file would fail in the same way.
      if (failure.exitCode === 4 || failure.code === 'no_connection' || failure.code === 'no_credential') break;
    }
  }
  if (options.wait)
    await waitForAll(context, api, outcomes, failures, options.waitSeconds * 1_000).catch((error: unknown) => {
      // What was uploaded is reported all the same: its ids are needed.
      failures.push(toFailure(error));
      context.say(`The wait ended: ${failureText(toFailure(error)).replace(/^guildhall: /, '')}`);
    });
  await report(context, files, outcomes, failures);
}

async function uploadOne(
  context: Context,
  api: Guildhall,
  file: LocalFile,
  options: Options,
  outcome: Outcome,
): Promise<void> {
  const data = await readFile(file.path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file.shown, error);
  });
  const progress = showProgress(context.io, file.shown, data.length);
  const metadata = {
    ...(options.name !== undefined && { name: options.name }),
    ...(options.description !== undefined && { description: options.description }),
  };
  try {
    const source = await api.call('createKnowledgeSource', {
      file: { data: inPieces(data), name: file.name },
      ...(Object.keys(metadata).length > 0 && { metadata }),
    });
    progress.end(true);
    outcome.publicId = source.publicId;
    outcome.name = source.name;
    outcome.processingStatus = source.processingStatus;
  } catch (error) {
    progress.end(false);
    throw error;
  }
  if (options.agent === undefined) return;
  await api.call('linkKnowledgeSource', {
    path: { agentPublicId: options.agent },
    body: { knowledgeSourcePublicId: outcome.publicId },
  });
  outcome.linkedTo = options.agent;
}

/** Reads the state of what was uploaded until none of it is in work, less often the longer it takes. */
async function waitForAll(
  context: Context,
  api: Guildhall,
  outcomes: Outcome[],
  failures: Failure[],
  maxMs: number,
): Promise<void> {
  const deadline = performance.now() + maxMs;
  const open = () =>
    outcomes.filter(({ publicId, processingStatus }) => publicId && processingStatus && !isFinal(processingStatus));
  if (open().length > 0) context.say('Waiting until the files are read and indexed.');
  for (let pauseMs = FIRST_POLL_MS; open().length > 0; pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_MS)) {
    await (context.io.wait ?? waitFor)(pauseMs, context.signal);
    for (const outcome of open()) {
      const source = await api.call('getKnowledgeSource', {
        path: { knowledgeSourcePublicId: outcome.publicId as string },
      });
      outcome.processingStatus = source.processingStatus;
      if (source.processingStatus === 'COMPLETED') context.say(`${outcome.file}: indexed.`);
      if (source.processingStatus !== 'FAILED') continue;
      const reason = source.errorMessage ?? 'The service does not say why.';
      note(outcome, new Failure('PROCESSING_FAILED', 1, reason), failures);
      context.say(`${outcome.file}: could not be read: ${reason}`);
    }
    if (performance.now() < deadline) continue;
    for (const outcome of open()) {
      note(outcome, new Failure('wait_ended', 1, 'It was still in work when the wait ended.'), failures);
      context.say(`${outcome.file}: still in work. Ask again: guildhall knowledge get ${outcome.publicId}`);
    }
    return;
  }
}

async function report(context: Context, files: LocalFile[], outcomes: Outcome[], failures: Failure[]): Promise<void> {
  const done = outcomes.filter(({ error }) => error === null).length;
  const untried = files.length - outcomes.length;
  if (failures.length > 0) {
    const message = `${done} of ${files.length} files ${done === 1 ? 'is' : 'are'} done${untried > 0 ? `, ${untried} ${untried === 1 ? 'was' : 'were'} not tried` : ''}.`;
    const codes = new Set(failures.map(({ exitCode }) => exitCode));
    const exitCode: ExitCode = codes.size === 1 ? (failures[0] as Failure).exitCode : 1;
    // With --json stdout has one document: the error, with what became of each file.
    if (!context.flags.json) await context.print(outcomes, { columns: COLUMNS });
    throw new Failure('upload_failed', exitCode, message, { details: context.flags.json ? outcomes : undefined });
  }
  await context.print(outcomes, { columns: COLUMNS });
}

const COLUMNS = ['publicId', 'file', 'processingStatus', 'error.message'];

function note(outcome: Outcome, error: unknown, failures: Failure[]): Failure {
  const failure = toFailure(error);
  outcome.error = { code: failure.code, message: failure.message };
  failures.push(failure);
  return failure;
}

function isFinal(status: Source['processingStatus']): boolean {
  return status === 'COMPLETED' || status === 'FAILED';
}

function count(index: number, { length }: readonly unknown[]): string {
  return length === 1 ? '' : `[${index + 1}/${length}] `;
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0) || !Number.isFinite(value))
    throw usage(`--wait-seconds takes a number above 0, and not ${JSON.stringify(text)}.`);
  return value;
}
