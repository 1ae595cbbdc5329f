import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { changeConfig, readConfig } from '../mcp/configFile.ts';
import { UnreadableConfig } from '../mcp/edit/format.ts';
import type { GuidePlace } from '../mcp/targets.ts';
import { isSealed } from './seal.ts';
import { guideFile } from './text.ts';

/**
 * A guide on the disk: as this version writes it, as another version wrote it, changed since (or of somebody else), not there, or not a
 * text that can be read.
 */
export type GuideState = 'current' | 'old' | 'changed' | 'none' | 'unreadable';

/** What stands at the guide's place. Line ends do not count: version control may change them. */
export async function guideState(place: GuidePlace): Promise<GuideState> {
  try {
    const { exists, text } = await readConfig(place.path);
    return exists ? stateOf(text, place) : 'none';
  } catch {
    return 'unreadable';
  }
}

function stateOf(text: string, place: GuidePlace): GuideState {
  const plain = text.replaceAll('\r\n', '\n');
  if (plain.trimEnd() === guideFile(place.kind).trimEnd()) return 'current';
  return isSealed(plain) ? 'old' : 'changed';
}

/** What became of a guide. `kept`: it was changed since it was written, so it stays. */
export type GuideResult = 'written' | 'updated' | 'unchanged' | 'removed' | 'absent' | 'kept' | 'failed';

/** Writes the guide, or a newer one over one that nobody has changed. */
export async function writeGuide(place: GuidePlace, { dry }: { dry: boolean }): Promise<GuideResult> {
  const results = {
    none: 'written',
    old: 'updated',
    current: 'unchanged',
    changed: 'kept',
    unreadable: 'kept',
  } as const;
  return attempt(place, dry, (text, state) => ({
    result: results[state],
    text: state === 'none' || state === 'old' ? guideFile(place.kind) : text,
  }));
}

/** Removes the guide, and the folder that was made for it, unless somebody has changed it. */
export async function removeGuide(place: GuidePlace, { dry }: { dry: boolean }): Promise<GuideResult> {
  const results = { none: 'absent', old: 'removed', current: 'removed', changed: 'kept', unreadable: 'kept' } as const;
  const result = await attempt(place, dry, (text, state) => ({
    result: results[state],
    text: results[state] === 'removed' ? undefined : text,
  }));
  if (result === 'removed' && !dry && place.kind === 'skill') await rmdir(dirname(place.path)).catch(() => undefined);
  return result;
}

async function attempt(
  place: GuidePlace,
  dry: boolean,
  decide: (text: string | undefined, state: GuideState) => { result: GuideResult; text: string | undefined },
): Promise<GuideResult> {
  try {
    let result: GuideResult = 'unchanged';
    const change = ({ exists, text }: { exists: boolean; text: string }) => {
      const decided = decide(exists ? text : undefined, exists ? stateOf(text, place) : 'none');
      result = decided.result;
      return decided.text;
    };
    if (dry) change(await readConfig(place.path));
    else await changeConfig(place.path, change, { mode: 0o644 });
    return result;
  } catch (error) {
    if (error instanceof UnreadableConfig) return 'kept';
    if ((error as NodeJS.ErrnoException).code) return 'failed';
    throw error;
  }
}
