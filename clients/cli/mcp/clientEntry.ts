import { changeConfig, readConfig } from './configFile.ts';
import { type EntryFields, UnreadableConfig } from './edit/format.ts';
import { type ServerFields, startsSame, wantedEntry } from './entry.ts';
import { lineDiff } from './lineDiff.ts';
import { startsOurs } from './server.ts';
import type { Scope, Target } from './targets.ts';

/** One client's file, and the name of the server in it. */
export interface EntryPlace {
  target: Target;
  scope: Scope;
  path: string;
  name: string;
}

/** What became of an entry. `unreadable`: the file is left as it is. `failed`: the system refused. */
export type EntryResult =
  | 'installed'
  | 'updated'
  | 'unchanged'
  | 'conflict'
  | 'removed'
  | 'absent'
  | 'unreadable'
  | 'failed';

/** What was done, or with `dry` what would be. */
export interface EntryOutcome {
  result: EntryResult;
  /** A sentence, for people. */
  message: string;
  /** The lines that change, when nothing was written. */
  change?: string;
}

/** Puts the entry into the client's file: a new one, or with `update` in place of another. */
export async function installEntry(
  place: EntryPlace,
  server: ServerFields,
  { update, dry }: { update: boolean; dry: boolean },
): Promise<EntryOutcome> {
  const { target, name, scope } = place;
  const { format, section, withType } = target;
  let outcome: EntryOutcome = { result: 'unchanged', message: '' };
  return attempt(place, async () => {
    const change = (text: string): string => {
      const current = format.read(text, section, name);
      if (current && startsSame(current, server, withType)) {
        outcome = { result: 'unchanged', message: `${target.title} has it already.` };
        return text;
      }
      if (current && !update) {
        const message = startsOurs(current)
          ? `${target.title} has the server ${name} with other options, or from another place. --update changes it, --name NAME keeps both.`
          : `${target.title} has another server with the name ${name}. --update replaces it, --name NAME keeps both.`;
        outcome = { result: 'conflict', message };
        return text;
      }
      const done = dry ? 'would be ' : '';
      outcome = current
        ? { result: 'updated', message: `The entry ${done || 'was '}changed.` }
        : { result: 'installed', message: dry ? 'The entry would be added.' : target.next };
      return format.write(text, section, name, wantedEntry(current, server, withType));
    };
    await edited(place.path, change, dry, scope, (diff) => {
      outcome.change = diff;
    });
    return outcome;
  });
}

/** Takes the entry out of the client's file. One that does not start a server of ours stays, unless `force`. */
export async function removeEntry(
  place: EntryPlace,
  { force, dry }: { force: boolean; dry: boolean },
): Promise<EntryOutcome> {
  const { target, name, scope } = place;
  const { format, section } = target;
  let outcome: EntryOutcome = { result: 'absent', message: `${target.title} has no server with the name ${name}.` };
  return attempt(place, async () => {
    const change = (text: string): string => {
      const current = format.read(text, section, name);
      if (!current) {
        outcome = { result: 'absent', message: `${target.title} has no server with the name ${name}.` };
        return text;
      }
      if (!force && !startsOurs(current)) {
        const message = `The server ${name} of ${target.title} is not one of Guildhall. --force removes it all the same.`;
        outcome = { result: 'conflict', message };
        return text;
      }
      outcome = { result: 'removed', message: dry ? 'The entry would be removed.' : 'The entry was removed.' };
      return format.remove(text, section, name);
    };
    await edited(place.path, change, dry, scope, (diff) => {
      outcome.change = diff;
    });
    return outcome;
  });
}

/** The entry as the file has it now. @throws UnreadableConfig, and the errors of the system */
export async function readEntry({ target, path, name }: EntryPlace): Promise<EntryFields | undefined> {
  return target.format.read((await readConfig(path)).text, target.section, name);
}

async function edited(
  path: string,
  change: (text: string) => string,
  dry: boolean,
  scope: Scope,
  show: (diff: string) => void,
): Promise<void> {
  if (dry) {
    const { text } = await readConfig(path);
    const after = change(text);
    if (after !== text) show(lineDiff(text, after));
    return;
  }
  // A file that does not exist and needs no entry is not made.
  const mode = scope === 'user' ? 0o600 : 0o644;
  await changeConfig(path, ({ exists, text }) => keepMissing(exists, text, change(text)), { mode });
}

function keepMissing(exists: boolean, before: string, after: string): string | undefined {
  return !exists && after === before ? undefined : after;
}

/** Runs the work; a file that cannot be read or written is an outcome, so that the other clients have their turn. */
async function attempt({ path }: EntryPlace, work: () => Promise<EntryOutcome>): Promise<EntryOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnreadableConfig)
      return { result: 'unreadable', message: `${path} ${error.message}. It is left as it is.` };
    const { code } = error as NodeJS.ErrnoException;
    if (!code) throw error;
    return { result: 'failed', message: `${path} cannot be changed: ${systemReason(code)}.` };
  }
}

/** The system's refusal in words. */
export function systemReason(code: string): string {
  const reasons: Record<string, string> = {
    EACCES: 'you may not write there',
    EPERM: 'you may not write there',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    ENOTDIR: 'a part of its path is a file',
    ELOOP: 'its symbolic links go in a circle',
    EBUSY: 'another program holds it',
    EISDIR: 'it is a folder',
  };
  return reasons[code] ?? code;
}
