import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';

/** One command of a transcript, with what it has to print. */
export interface Step {
  /** Line of the transcript, from 1. */
  line: number;
  command: string;
  stdout: string[];
  stderr: string[];
  exitCode: number;
}

/**
 * A transcript: `$ ` begins a command, the lines behind it are what it prints, those with `! ` on stderr, and `[exit N]` is its exit code
 * unless that is 0. `…` stands for anything within a line, and alone for any lines. `<name>` stands for a word: the same one wherever the
 * name comes again, in commands too. Lines with `#` and empty ones between commands are for readers.
 */
export function readTranscript(text: string): Step[] {
  const steps: Step[] = [];
  let step: Step | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('$ ')) {
      step = { line: index + 1, command: line.slice(2), stdout: [], stderr: [], exitCode: 0 };
      steps.push(step);
    } else if (line === '' || line.startsWith('# ')) step = undefined;
    else if (!step) throw new Error(`Line ${index + 1} belongs to no command: ${line}`);
    else if (/^\[exit \d+\]$/.test(line)) step.exitCode = Number(line.slice(6, -1));
    else if (line.startsWith('! ')) step.stderr.push(line.slice(2));
    // More lines of what came last.
    else if (line === '…' && step.stderr.length > 0) step.stderr.push(line);
    else step.stdout.push(line);
  }
  return steps;
}

/** What a command did. */
export interface Done {
  stdout: string;
  stderr: string;
  exitCode: number | null;
}

/** One shell that runs the commands of a transcript, each in a process of its own. Exported variables do not outlive a command. */
export async function runInShell(command: string, env: Record<string, string>, cwd: string): Promise<Done> {
  const shell = spawn('bash', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => shell.once('close', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([buffer(shell.stdout), buffer(shell.stderr), ended]);
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

/** The command with the words that are known in place of their names. */
export function withNames(command: string, names: ReadonlyMap<string, string>): string {
  return command.replace(/<([a-z]+)>/g, (whole, name) => names.get(name) ?? whole);
}

/** What differs between expected lines and a text, in words; undefined when nothing does. New names are noted in `names`. */
export function difference(expected: readonly string[], text: string, names: Map<string, string>): string | undefined {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  let at = 0;
  for (const [index, line] of expected.entries()) {
    if (line === '…') {
      const next = expected[index + 1];
      if (next === undefined) return undefined;
      while (at < lines.length && !matches(next, lines[at] ?? '', names)) at += 1;
    } else {
      if (at >= lines.length || !matches(line, lines[at] ?? '', names))
        return `expected: ${withNames(line, names)}\n  but got: ${lines[at] ?? '(nothing)'}`;
      at += 1;
    }
  }
  return at < lines.length ? `expected nothing more, but got: ${lines.slice(at).join('\n')}` : undefined;
}

function matches(expected: string, line: string, names: Map<string, string>): boolean {
  const fresh: string[] = [];
  const pattern = expected.split(/(<[a-z]+>|…)/).map((part) => {
    if (part === '…') return '.*';
    const name = /^<([a-z]+)>$/.exec(part)?.[1];
    if (name === undefined) return RegExp.escape(part);
    const known = names.get(name);
    if (known !== undefined) return RegExp.escape(known);
    if (fresh.includes(name)) return `\\k<${name}>`;
    fresh.push(name);
    return `(?<${name}>[^\\s"]+)`;
  });
  const found = new RegExp(`^${pattern.join('')}$`).exec(line);
  for (const name of found ? fresh : []) names.set(name, found?.groups?.[name] ?? '');
  return found !== null;
}
