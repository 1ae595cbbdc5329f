import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fault } from '../../core/errors.ts';
import { readHead } from '../files/readHead.ts';
import { hasZipMagic } from '../files/zipMagic.ts';
import { ComputationFailed, compute } from '../threads/compute.ts';
import type { FrontMatter } from './frontMatter.ts';
import { HEAD_BYTES } from './frontMatterPlace.ts';
import { skillFolder } from './paths.ts';
import { badSkill, shown } from './refusal.ts';
import { isArchive, TextCheck } from './sniff.ts';
import { readZipEntry } from './zipContent.ts';
import { readZipDirectory, type ZipEntry } from './zipDirectory.ts';

/** A file of a skill. */
export interface SkillFile {
  /** Path inside the skill, with `/` between the parts. */
  path: string;
  sizeBytes: number;
  /** Whether the content is not UTF-8 text. */
  binary: boolean;
  content: Buffer;
}

/** An upload that passed every check. */
export interface Skill {
  frontMatter: FrontMatter;
  /** Of all files together, unpacked. */
  sizeBytes: number;
  /** Yields the files, with the content of one at a time in memory. Can be called again, as long as the upload exists. */
  files(): AsyncGenerator<SkillFile>;
}

/** Milliseconds to read front matter. The slowest takes a fifth. */
const FRONT_MATTER_LIMIT_MS = 2_000;
/** The path of the instructions, however the upload writes its case. */
const SKILL_FILE = 'SKILL.md';
const EXTENSIONS: readonly string[] = ['', '.zip', '.skill', '.md'];

/**
 * Reads and checks the upload at `path`, whose file name is `name`: an archive, or a single Markdown file. Its bytes decide which of the
 * two it is. Workspaces take turns. An archive is unpacked once for the checks, in constant memory. Throws INVALID_SKILL_ZIP with a sentence about the
 * problem; UNSUPPORTED_MEDIA_TYPE when the upload is neither of the two, or its name has another extension.
 */
export async function readSkill({ path, name }: { path: string; name: string }, workspaceId: string): Promise<Skill> {
  if (!EXTENSIONS.includes(extname(name).toLowerCase())) throw notASkill();
  const head = await readHead(path, HEAD_BYTES);
  return hasZipMagic(head) ? readBundle(path, workspaceId) : readLoneFile(path, head, workspaceId);
}

function notASkill() {
  return fault(
    'UNSUPPORTED_MEDIA_TYPE',
    'Upload a .zip or .skill archive with a SKILL.md, or a lone .md file in UTF-8.',
  );
}

async function readLoneFile(path: string, head: Buffer, workspaceId: string): Promise<Skill> {
  const check = new TextCheck();
  let sizeBytes = 0;
  for await (const chunk of createReadStream(path)) {
    check.add(chunk);
    sizeBytes += chunk.length;
  }
  if (check.end()) throw notASkill();
  const frontMatter = await frontMatterOf(head, workspaceId);
  return {
    frontMatter,
    sizeBytes,
    async *files() {
      const content = await readFile(path);
      yield { path: SKILL_FILE, sizeBytes: content.length, binary: false, content };
    },
  };
}

async function readBundle(path: string, workspaceId: string): Promise<Skill> {
  const entries = await readZipDirectory(path);
  const folder = skillFolder(entries.map(({ name }) => name));
  const checked: { entry: ZipEntry; path: string; binary: boolean }[] = [];
  let frontMatter: FrontMatter | undefined;
  for (const entry of entries) {
    const { head, binary } = await inspect(path, entry);
    if (isArchive(head))
      throw badSkill(`${shown(entry.name)} is itself an archive. Unpack it before you pack the skill.`);
    let inside = entry.name.slice(folder.length);
    if (inside.toLowerCase() === SKILL_FILE.toLowerCase()) {
      if (binary) throw badSkill('SKILL.md is not text in UTF-8.');
      frontMatter = await frontMatterOf(head, workspaceId);
      inside = SKILL_FILE;
    }
    checked.push({ entry, path: inside, binary });
  }
  if (!frontMatter) throw badSkill('The archive has no SKILL.md.');
  return {
    frontMatter,
    sizeBytes: checked.reduce((sum, { entry }) => sum + entry.sizeBytes, 0),
    async *files() {
      for (const { entry, ...file } of checked) {
        yield { ...file, sizeBytes: entry.sizeBytes, content: await contentOf(path, entry) };
      }
    },
  };
}

/** The front matter of a SKILL.md that begins with `head`, read in a thread: nested lists take the YAML parser 0.2 s. Throws INVALID_SKILL_ZIP. */
async function frontMatterOf(head: Buffer, workspaceId: string): Promise<FrontMatter> {
  try {
    const read = await compute('tryFrontMatter', [head.toString()], { workspaceId, limitMs: FRONT_MATTER_LIMIT_MS });
    if ('refusal' in read) throw badSkill(read.refusal);
    return read.frontMatter;
  } catch (error) {
    if (error instanceof ComputationFailed) throw badSkill(`Reading the front matter of SKILL.md ${error.message}.`);
    throw error;
  }
}

/** Unpacks a file and keeps only its head. */
async function inspect(path: string, entry: ZipEntry): Promise<{ head: Buffer; binary: boolean }> {
  const check = new TextCheck();
  const head: Buffer[] = [];
  let room = HEAD_BYTES;
  await readZipEntry(path, entry, (chunk) => {
    check.add(chunk);
    if (room > 0) head.push(Buffer.from(chunk.subarray(0, room)));
    room -= chunk.length;
  });
  return { head: Buffer.concat(head), binary: check.end() };
}

async function contentOf(path: string, entry: ZipEntry): Promise<Buffer> {
  const content = Buffer.alloc(entry.sizeBytes);
  let filled = 0;
  await readZipEntry(path, entry, (chunk) => {
    filled += chunk.copy(content, filled);
  });
  return content;
}
