import { isUtf8 } from 'node:buffer';
import { type Entry, getFileNameLowLevel, validateFileName } from 'yauzl';
import { SKILL_LIMITS } from './limits.ts';
import { badSkill, shown } from './refusal.ts';

/** Set in an entry's flags when its name is UTF-8. */
const UTF8_NAME = 0x800;

/**
 * The name of an entry as text. A name that is valid UTF-8 is read as UTF-8, with or without the flag, because macOS does not set it.
 * Any other name is CP437, as the ZIP specification says (APPNOTE, appendix D).
 */
export function nameOf({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  const flags = isUtf8(fileNameRaw) ? generalPurposeBitFlag | UTF8_NAME : generalPurposeBitFlag;
  return getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
}

/**
 * Checks that a name stays inside the folder that it is unpacked to, on every operating system, and that it is not too long. The name
 * of a folder ends with `/`. Throws INVALID_SKILL_ZIP.
 */
export function checkName(name: string): void {
  if (name === '') throw badSkill('The archive has an entry without a name.');
  if (name.length > SKILL_LIMITS.pathCharacters) {
    throw badSkill(`The path ${shown(name)} has more than ${SKILL_LIMITS.pathCharacters} characters.`);
  }
  // U+FFFD replaces bytes that are not UTF-8.
  if (/[\p{Cc}\uFFFD]/u.test(name)) {
    throw badSkill(`The path ${shown(name)} has control characters or is not UTF-8.`);
  }
  if (validateFileName(name) !== null) {
    throw badSkill(`The path ${shown(name)} is absolute, has a backslash, or leads out of the archive.`);
  }
  const parts = name.replace(/\/$/, '').split('/');
  if (parts.some((part) => part.trim() === '' || part === '.')) {
    throw badSkill(`The path ${shown(name)} has an empty part.`);
  }
  if (parts.length > SKILL_LIMITS.pathDepth) {
    throw badSkill(`The path ${shown(name)} has more than ${SKILL_LIMITS.pathDepth} parts.`);
  }
}

/** Whether macOS added the entry when it packed the archive. Such entries are not stored. */
export function isJunk(name: string): boolean {
  return name.startsWith('__MACOSX/') || name === '.DS_Store' || name.endsWith('/.DS_Store');
}

/** Equal for names that are one file on some file systems: they differ in case, or in how accents are composed. */
function folded(path: string): string {
  return path.toUpperCase().toLowerCase().normalize('NFC');
}

/** The names of one archive. Each must be a file or folder of its own on every operating system. */
export class PathSet {
  readonly #seen = new Map<string, { path: string; isFile: boolean }>();

  /** Adds a name and its folders. Throws INVALID_SKILL_ZIP when it collides with another name. */
  add(name: string): void {
    const isFile = !name.endsWith('/');
    const parts = name.replace(/\/$/, '').split('/');
    for (const depth of parts.keys()) {
      const path = parts.slice(0, depth + 1).join('/');
      this.#addOne(path, isFile && depth === parts.length - 1);
    }
  }

  #addOne(path: string, isFile: boolean): void {
    const key = folded(path);
    const other = this.#seen.get(key);
    if (other === undefined) {
      this.#seen.set(key, { path, isFile });
    } else if (other.path !== path) {
      throw badSkill(`The paths ${shown(other.path)} and ${shown(path)} are the same on some systems.`);
    } else if (isFile && other.isFile) {
      throw badSkill(`The archive has two files at ${shown(path)}.`);
    } else if (isFile !== other.isFile) {
      throw badSkill(`The archive has a file and a folder at ${shown(path)}.`);
    }
  }
}

/**
 * The folder of a skill: `''` or `some/folder/`. It is the outermost one with a `SKILL.md`, in upper or lower case. Throws
 * INVALID_SKILL_ZIP when no folder has one, or a file is outside that folder.
 */
export function skillFolder(names: readonly string[]): string {
  const folders = names.flatMap((name) => /^((?:.*\/)?)SKILL\.md$/i.exec(name)?.[1] ?? []);
  const [folder] = folders.sort((a, b) => a.split('/').length - b.split('/').length);
  if (folder === undefined) throw badSkill('The archive has no SKILL.md.');
  const outside = names.find((name) => !name.startsWith(folder));
  if (outside !== undefined) {
    throw badSkill(
      `SKILL.md must be in the folder of all other files: it is in ${shown(folder)}, but ${shown(outside)} is not.`,
    );
  }
  return folder;
}
