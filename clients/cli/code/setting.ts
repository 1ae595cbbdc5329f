import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { FileFaults, StateConflict } from '../../code/faults.ts';
import { allKinds } from '../../code/kinds/index.ts';
import { resolveSecret } from '../../code/secrets/resolve.ts';
import type { Setting } from '../../code/survey.ts';
import { askHealth } from '../auth/health.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';

/** The option that all three commands have. */
export function withFolder(command: Command): Command {
  return command.addOption(new Option('-C, --folder <path>', 'the folder of guildhall.yaml').default('.', 'this one'));
}

/** Adds the meaning of the exit codes to the help of a command. */
export function codesText(lines: Record<number, string>): string {
  return `\nExit codes:\n${Object.entries(lines)
    .map(([code, text]) => `  ${code}  ${text}`)
    .join('\n')}`;
}

/** What the engine works with, for this folder and this login. */
export async function settingOf(context: Context, folder: string): Promise<Setting> {
  const login = await context.login();
  const { workspacePublicId } = await askHealth(context, login);
  const said = new Set<string>();
  return {
    api: await context.api(),
    folder: resolve(context.io.cwd, folder),
    workspaceId: workspacePublicId,
    kinds: allKinds,
    warn(text) {
      if (!said.has(text)) context.say(`Warning: ${text}`);
      said.add(text);
    },
  };
}

/** Looks up the values behind references to secrets. */
export function secretsOf(context: Context, { folder }: Setting): (reference: string) => Promise<string> {
  return (reference) => resolveSecret(reference as 'env:', { env: context.io.env, folder });
}

/** Runs what a command does; errors of the engine become those of the command line. */
export async function asCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  if (error instanceof FileFaults) {
    const details = error.faults.map(({ file, line, problem }) => ({
      path: line === undefined ? file : `${file}:${line}`,
      message: problem,
    }));
    const count = `${details.length} ${details.length === 1 ? 'fault' : 'faults'}`;
    return new Failure('invalid_files', 2, `The files have ${count}. Nothing was changed.`, { details, cause: error });
  }
  if (error instanceof StateConflict) {
    const { code, message, hint, items } = error;
    const exitCode = code === 'no_project' ? 2 : 5;
    const details = items.map((item) => ({ path: item, message: 'has edits' }));
    return new Failure(code, exitCode, message, { hint, ...(details.length > 0 && { details }), cause: error });
  }
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code && /^E[A-Z]+$/.test(code) && path)
    return new Failure('file_error', 1, `${path} cannot be read or written (${code}).`, { cause: message });
  return error;
}
