import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Context } from '../context.ts';
import { guideState } from '../guide/file.ts';
import type { Check } from './check.ts';
import { readEntry, systemReason } from './clientEntry.ts';
import { type EntryFields, UnreadableConfig } from './edit/format.ts';
import { MANAGED_VARIABLES, type ServerFields, startsSame } from './entry.ts';
import { HandshakeFault, shakeHands } from './handshake.ts';
import { loginRemark, type StartedServer } from './login.ts';
import { placesOf } from './scopeFlags.ts';
import { keysIn, startsOurs } from './server.ts';
import type { Scope, Target } from './targets.ts';

/** A server may be read from a cold disk by a busy machine; clients wait this long and more (Codex: 10 s, Claude Code: 30 s). */
const HANDSHAKE_MS = 20_000;

/** What to look at in one client. */
export interface ClientCheck {
  target: Target;
  scope: Scope;
  name: string;
  /** The user named this client, so that a missing entry is wrong. */
  named: boolean;
  /** What `mcp install` would write now. */
  wanted: ServerFields;
  /** What servers that were started already answered, so that equal entries are started once: the number of tools, or what was wrong. */
  seen: Map<string, Promise<string | number>>;
}

/** The entry of one client, the program that it starts, and its guide. */
export async function checkClient(context: Context, check: ClientCheck): Promise<Check[]> {
  const { target, scope, name, named } = check;
  const places = placesOf(context);
  const path = target.file(places, scope);
  const about = `${target.id} entry`;
  const flags = `${target.id}${scope === 'project' ? ' --project' : ''}${name === 'guildhall' ? '' : ` --name ${name}`}`;
  if (!path)
    return [
      { about, state: 'wrong', message: 'There is no home folder.', fix: 'Set HOME, or use --project.', exitCode: 2 },
    ];
  let entry: EntryFields | undefined;
  try {
    entry = await readEntry({ target, scope, path, name });
  } catch (error) {
    const reason = reasonOf(error);
    return [
      {
        about,
        state: 'wrong',
        message: `${path} ${reason}.`,
        fix: 'Mend the file, or restore an older copy of it.',
        exitCode: 5,
      },
    ];
  }
  if (!entry) {
    const message = `${path} has no server ${name}.`;
    return [
      { about, state: named ? 'wrong' : 'note', message, fix: `Run guildhall mcp install ${flags}.`, exitCode: 1 },
    ];
  }
  const checks: Check[] = [
    entryCheck(about, path, entry, check, flags),
    await serverCheck(context, entry, check, flags + optionsIn(entry)),
  ];
  const keys = keysIn(entry);
  if (keys.length > 0)
    checks.push({
      about,
      state: 'wrong',
      message: `${path} holds an API key, in ${keys.join(' and ')}.`,
      fix: 'Remove it, and run guildhall auth login: the server reads the saved login.',
      exitCode: 5,
    });
  const guide = target.guide(places, scope);
  if (guide) checks.push(guideCheck(target, guide.path, await guideState(guide), flags + optionsIn(entry)));
  return checks;
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreadableConfig) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code) return `cannot be read: ${code === 'EACCES' ? 'you may not read it' : systemReason(code)}`;
  throw error;
}

function entryCheck(
  about: string,
  path: string,
  entry: EntryFields,
  { wanted, target }: ClientCheck,
  flags: string,
): Check {
  if (!startsOurs(entry))
    return {
      about,
      state: 'wrong',
      message: `${path} has another server under this name.`,
      fix: `Run guildhall mcp install ${flags} --name NAME, or --update to replace it.`,
      exitCode: 5,
    };
  if (startsSame(entry, wanted, target.withType)) return { about, state: 'ok', message: path, fix: null };
  const started = startedBy(entry);
  const same = started?.command === wanted.command && started.args[0] === wanted.args[0];
  if (same)
    return {
      about,
      state: 'ok',
      message: `${path}, with options: ${started.args.slice(1).join(' ') || 'a folder for logins'}.`,
      fix: null,
    };
  return {
    about,
    state: 'note',
    message: `${path} starts another copy of the server: ${[started?.command, ...(started?.args.slice(0, 1) ?? [])].join(' ')}.`,
    fix: `Run guildhall mcp install ${flags}${optionsIn(entry)} --update for this one.`,
  };
}

/** The options that the entry gives to our server, as `mcp install` takes them: what mends an entry must not widen what it offers. */
function optionsIn(entry: EntryFields): string {
  if (!startsOurs(entry)) return '';
  const args = (Array.isArray(entry.args) ? entry.args : []).map(String);
  const options = startsOurs({ command: entry.command }) ? args : args.slice(1);
  return options.map((each) => ` ${/^[\w.,:/@=-]+$/.test(each) ? each : JSON.stringify(each)}`).join('');
}

async function serverCheck(context: Context, entry: EntryFields, check: ClientCheck, flags: string): Promise<Check> {
  const { target, seen } = check;
  const about = `${target.id} server`;
  const fix = `Run guildhall mcp install ${flags} --update.`;
  const started = startedBy(entry);
  if (!started) return { about, state: 'wrong', message: 'The entry starts no program.', fix, exitCode: 5 };
  if (!mayStart(started, entry, check))
    return { about, state: 'note', message: 'It is not started: it is not the server beside this command.', fix };
  const program = [started.command, ...started.args.slice(0, 1)].filter((path) => isAbsolute(path));
  const missing = program.find((path) => statSync(path, { throwIfNoEntry: false }) === undefined);
  if (missing) return { about, state: 'wrong', message: `${missing} is not there any more.`, fix, exitCode: 1 };
  const key = JSON.stringify(started);
  const answer = seen.get(key) ?? handshake(context, started);
  seen.set(key, answer);
  const tools = await answer;
  const byHand = `Start it by hand to see more: ${[started.command, ...started.args].join(' ')}`;
  if (typeof tools === 'string')
    return { about, state: 'wrong', message: `The server ${tools}.`, fix: byHand, exitCode: 1 };
  const remark = await loginRemark(inEntry(context, started), started);
  if (remark)
    return {
      about,
      state: 'wrong',
      message: `It starts, with ${tools} tools, but has no key.`,
      fix: remark,
      exitCode: 4,
    };
  return { about, state: 'ok', message: `It starts, with ${tools} tools.`, fix: null };
}

/** A project's file may be anybody's, so that only this very server is started from it; from a user's own file any copy of it. */
function mayStart(
  started: { command: string } & StartedServer,
  entry: EntryFields,
  { scope, wanted }: ClientCheck,
): boolean {
  if (scope === 'user') return startsOurs(entry);
  const others = Object.keys(started.env).filter((name) => !MANAGED_VARIABLES.includes(name));
  return started.command === wanted.command && started.args[0] === wanted.args[0] && others.length === 0;
}

async function handshake({ io }: Context, started: { command: string } & StartedServer): Promise<string | number> {
  try {
    return (await shakeHands(started, { env: io.env, deadlineMs: HANDSHAKE_MS })).tools;
  } catch (error) {
    if (error instanceof HandshakeFault) return error.message;
    throw error;
  }
}

/** The context as the started server has it: with the variables of its entry. */
function inEntry(context: Context, { env }: StartedServer): Context {
  return { ...context, surroundings: { ...context.surroundings, env: { ...context.surroundings.env, ...env } } };
}

/** What the entry starts; undefined when it is of another form. */
function startedBy({ command, args, env }: EntryFields): ({ command: string } & StartedServer) | undefined {
  if (typeof command !== 'string') return undefined;
  const variables = typeof env === 'object' && env !== null ? Object.entries(env) : [];
  return {
    command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Object.fromEntries(variables.map(([name, value]) => [name, String(value)])),
  };
}

function guideCheck(target: Target, path: string, state: Awaited<ReturnType<typeof guideState>>, flags: string): Check {
  const about = `${target.id} guide`;
  const fix = `Run guildhall mcp install ${flags}.`;
  switch (state) {
    case 'current':
      return { about, state: 'ok', message: path, fix: null };
    case 'old':
      return { about, state: 'note', message: `${path} is of another version.`, fix };
    case 'none':
      return { about, state: 'note', message: `${path} is not there.`, fix };
    case 'changed':
      return {
        about,
        state: 'note',
        message: `${path} was changed since it was written.`,
        fix: 'Delete it and install again, if you want the new one.',
      };
    case 'unreadable':
      return { about, state: 'wrong', message: `${path} cannot be read.`, fix: 'Mend its permissions.', exitCode: 1 };
  }
}
