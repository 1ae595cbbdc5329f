import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { archiveOf } from '../../code/kinds/zip.ts';
import { Failure } from '../failure.ts';
import { plainLine } from '../terminal/plain.ts';
import { MAX_SKILL_BYTES, MAX_SKILL_ENTRIES, MAX_SKILL_FILE_BYTES, MAX_UNPACKED_SKILL_BYTES } from './limits.ts';
import { unreadable } from './localFiles.ts';
import { sizeText } from './size.ts';

/** A folder as an archive, and what was not put into it. */
export interface ZippedFolder {
  name: string;
  data: Uint8Array<ArrayBuffer>;
  files: number;
  /** Paths within the folder, in order. */
  leftOut: string[];
}

/** What version control, systems, editors and package managers leave behind, and files that hold secrets by custom. */
const JUNK =
  /^(\.git|\.hg|\.svn|\.DS_Store|__MACOSX|\._.*|Thumbs\.db|desktop\.ini|\.idea|\.vscode|node_modules|__pycache__|.*\.sw[op]|.*~|\.env(\..*)?)$/i;

/**
 * Zips the folder of a skill: every file below it, sorted, without junk. Nothing outside of the folder gets in.
 * @throws Failure (exit 2) when there is no `SKILL.md` on top, when something is neither a file nor a folder (a link, a socket), when a file
 * cannot be read, or when a bound of the API is exceeded.
 */
export async function zipSkillFolder(shown: string, path: string): Promise<ZippedFolder> {
  const found: Found = { files: [], leftOut: [], entries: 0 };
  await walk(path, '', shown, found);
  if (!found.files.some(({ inside }) => inside.toLowerCase() === 'skill.md'))
    throw refused(
      'no_skill_md',
      `The folder ${quoted(shown)} has no SKILL.md.`,
      'Give the folder in which SKILL.md is.',
    );
  const contents: [path: string, content: Uint8Array][] = [];
  let unpacked = 0;
  for (const { inside } of found.files) {
    const data = await readFile(join(path, inside)).catch((error: NodeJS.ErrnoException) => {
      throw unreadable(join(shown, inside), error);
    });
    unpacked += data.length;
    if (data.length > MAX_SKILL_FILE_BYTES || unpacked > MAX_UNPACKED_SKILL_BYTES)
      throw tooLarge(shown, inside, data.length);
    contents.push([inside, data]);
  }
  const data = new Uint8Array(await archiveOf(Object.fromEntries(contents)));
  if (data.length > MAX_SKILL_BYTES)
    throw refused(
      'file_too_large',
      `The folder ${quoted(shown)} has ${sizeText(data.length)} when it is zipped. At most ${sizeText(MAX_SKILL_BYTES)} can be sent.`,
    );
  return { name: `${basename(path)}.zip`, data, files: found.files.length, leftOut: found.leftOut };
}

interface Found {
  files: { inside: string; bytes: number }[];
  leftOut: string[];
  entries: number;
}

async function walk(root: string, folder: string, shown: string, found: Found): Promise<void> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(join(shown, folder), error);
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    // Archives have forward slashes on every system.
    const inside = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (JUNK.test(entry.name)) {
      found.leftOut.push(inside);
      continue;
    }
    found.entries += 1;
    if (found.entries > MAX_SKILL_ENTRIES)
      throw refused(
        'too_many_files',
        `The folder ${quoted(shown)} has more than ${MAX_SKILL_ENTRIES} files and folders.`,
      );
    if (entry.isDirectory()) await walk(root, inside, shown, found);
    else if (entry.isFile()) found.files.push(await measured(root, inside, shown));
    else
      throw refused(
        entry.isSymbolicLink() ? 'link_in_skill' : 'not_a_file',
        `${quoted(join(shown, inside))} is ${entry.isSymbolicLink() ? 'a link' : 'not a file'}. A skill has files only.`,
        entry.isSymbolicLink() ? 'Put a copy of what it leads to in its place.' : undefined,
      );
  }
}

/** Before it is read: a file of gigabytes must not fill the memory. */
async function measured(root: string, inside: string, shown: string): Promise<{ inside: string; bytes: number }> {
  const { size } = await stat(join(root, inside)).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(join(shown, inside), error);
  });
  if (size > MAX_SKILL_FILE_BYTES) throw tooLarge(shown, inside, size);
  return { inside, bytes: size };
}

function tooLarge(shown: string, inside: string, bytes: number): Failure {
  if (bytes > MAX_SKILL_FILE_BYTES)
    return refused(
      'file_too_large',
      `${quoted(join(shown, inside))} has ${sizeText(bytes)}. A file of a skill has at most ${sizeText(MAX_SKILL_FILE_BYTES)}.`,
    );
  return refused(
    'file_too_large',
    `The files of ${quoted(shown)} have more than ${sizeText(MAX_UNPACKED_SKILL_BYTES)} together. A skill has at most that.`,
  );
}

function quoted(shown: string): string {
  return `"${plainLine(shown)}"`;
}

function refused(code: string, message: string, hint?: string): Failure {
  return new Failure(code, 2, message, { hint });
}
