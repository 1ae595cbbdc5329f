import { spawn, spawnSync } from 'node:child_process';

/** A program to run, and where. */
export interface CommandLine {
  /** The program and its arguments. */
  line: readonly string[];
  folder: string;
  env?: Readonly<Record<string, string>>;
}

export interface Outcome {
  ok: boolean;
  /** What it printed: both streams when it failed, stdout otherwise. */
  output: string;
  /** The lines of both streams that warn, without those that repeat an earlier one but for its numbers and times. */
  warnings: string[];
}

/** A build from nothing, with its downloads, takes minutes on a small machine. */
const LONGEST_MS = 20 * 60_000;

/** Runs a command to its end. Never throws: a program that cannot start or takes too long is a failure with its reason. */
export function run({ line: [program = '', ...args], folder, env }: CommandLine): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LONGEST_MS,
    });
    let [stdout, all] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      all += chunk;
    });
    child.stderr.on('data', (chunk) => {
      all += chunk;
    });
    child.once('error', ({ message }) => resolve({ ok: false, output: message, warnings: [] }));
    child.once('close', (code) =>
      resolve({ ok: code === 0, output: code === 0 ? stdout : all, warnings: warningsIn(all) }),
    );
  });
}

/** The lines that say `warn` or `warning`, each once. */
export function warningsIn(output: string): string[] {
  const lines = output.split('\n').map((line) => line.trim());
  const warning = lines.filter((line) => /\bwarn(ing)?s?\b/i.test(line));
  return [...new Map(warning.toReversed().map((line) => [line.replaceAll(/\d+/g, '0'), line])).values()].toReversed();
}

/** Whether the machine has a program. */
export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' }).status === 0;
}

/** The first line of an output that says what went wrong, or the last one that says anything. */
export function firstError(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const line =
    lines.find(
      (line) =>
        /\b(error|exception|panic|redeclared|undefined)\b|Error:/i.test(line) && !/COMPILATION ERROR/.test(line),
    ) ?? lines.at(-1);
  return (line ?? 'no output').trim().slice(0, 300);
}
