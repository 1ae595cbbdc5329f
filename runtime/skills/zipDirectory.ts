import type { Entry, ZipFile } from 'yauzl';
import { openArchive } from '../files/archive.ts';
import { SKILL_LIMITS } from './limits.ts';
import { checkName, isJunk, nameOf, PathSet } from './paths.ts';
import { badSkill, megabytes, shown } from './refusal.ts';

/** A file of an archive as the directory describes it. `readZipEntry` compares the content with it. */
export interface ZipEntry {
  name: string;
  /** Offset of its packed bytes in the archive. */
  offset: number;
  packedBytes: number;
  sizeBytes: number;
  deflated: boolean;
  crc32: number;
}

const STORED = 0;
const DEFLATED = 8;
/** Flags: encrypted, strongly encrypted, directory encrypted. */
const ENCRYPTED = 0x2041;
/** Flag: a patch of another file. */
const PATCH = 0x20;
/** Flag: sizes and CRC follow the content; the local header may have zeros instead. */
const SIZES_FOLLOW = 0x8;
const ZIP64_SIZE = 0xffffffff;
const END_RECORD_BYTES = 22;
const ZIP64_END_RECORDS_BYTES = 76;
/** Unix file types in the upper half of the external attributes. */
const FILE_TYPE = 0o170000;
const FOLDER = 0o040000;
const REGULAR = 0o100000;

/**
 * Returns the files of an archive after all checks that need no unpacking: names, kinds and sizes, and that no two entries share a part
 * of the archive. Format: PKWARE APPNOTE 6.3.10. Throws INVALID_SKILL_ZIP.
 */
export async function readZipDirectory(path: string): Promise<ZipEntry[]> {
  const zip = await readable(() => openArchive(path, { decodeStrings: false }));
  try {
    return await readable(() => filesOf(zip));
  } finally {
    zip.close();
  }
}

/** Turns yauzl's error for a broken archive into INVALID_SKILL_ZIP. Rethrows errors of the disk and our own. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // yauzl throws plain errors. Errors of the system have a code, and ours have another name.
    if (!Error.isError(error) || error.name !== 'Error' || 'code' in error) throw error;
    throw badSkill('The archive is damaged, encrypted, or has bytes that are not part of it.', error);
  }
}

async function filesOf(zip: ZipFile): Promise<ZipEntry[]> {
  if (zip.entryCount > SKILL_LIMITS.entries) {
    throw badSkill(`The archive has ${zip.entryCount} entries; ${SKILL_LIMITS.entries} are the most.`);
  }
  const directoryStart = Number(zip.readEntryCursor);
  const names = new PathSet();
  const files: ZipEntry[] = [];
  const ranges: { name: string; start: number; end: number }[] = [];
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry);
    checkName(name);
    checkKind(name, entry);
    names.add(name);
    const offset = await contentOffset(zip, name, entry);
    ranges.push({ name, start: entry.relativeOffsetOfLocalHeader, end: offset + entry.compressedSize });
    if (name.endsWith('/') || isJunk(name)) continue;
    const { compressedSize: packedBytes, uncompressedSize: sizeBytes, crc32 } = entry;
    files.push({ name, offset, packedBytes, sizeBytes, crc32, deflated: entry.compressionMethod === DEFLATED });
  }
  checkRanges(ranges, directoryStart);
  checkEnd(zip);
  checkSizes(files, zip.fileSize);
  return files;
}

/** Refuses encrypted entries, links, devices, unknown compression, and folders with content. */
function checkKind(name: string, entry: Entry): void {
  const { generalPurposeBitFlag: flags, compressionMethod, externalFileAttributes } = entry;
  if (flags & ENCRYPTED) throw badSkill(`${shown(name)} is encrypted.`);
  if (flags & PATCH || ![STORED, DEFLATED].includes(compressionMethod)) {
    throw badSkill(`${shown(name)} is packed in a way other than stored or deflated.`);
  }
  const type = (externalFileAttributes >>> 16) & FILE_TYPE;
  const isFolder = name.endsWith('/');
  if (type !== 0 && type !== (isFolder ? FOLDER : REGULAR)) {
    throw badSkill(`${shown(name)} is a link, or another thing than its name says.`);
  }
  if (isFolder && entry.uncompressedSize > 0) throw badSkill(`The folder ${shown(name)} has content.`);
}

/** The offset of the content. Its local header must agree with the directory, because tools differ in which of them they trust. */
async function contentOffset(zip: ZipFile, name: string, entry: Entry): Promise<number> {
  const local = await zip.readLocalFileHeaderPromise(entry);
  const same = (found: number, told: number) => found === told || found === ZIP64_SIZE;
  const agrees =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    !(local.generalPurposeBitFlag & ENCRYPTED) &&
    (Boolean(entry.generalPurposeBitFlag & SIZES_FOLLOW) ||
      (local.crc32 === entry.crc32 &&
        same(local.compressedSize, entry.compressedSize) &&
        same(local.uncompressedSize, entry.uncompressedSize)));
  if (!agrees) throw badSkill(`The archive says two things about ${shown(name)}.`);
  return local.fileDataStart;
}

/** Refuses entries that share bytes: they unpack to far more than the archive's size (D. Fifield, "A better zip bomb", 2019). */
function checkRanges(ranges: { name: string; start: number; end: number }[], directoryStart: number): void {
  let taken = 0;
  for (const { name, start, end } of ranges.sort((a, b) => a.start - b.start)) {
    if (start < taken || end > directoryStart) throw badSkill(`${shown(name)} overlaps another part of the archive.`);
    taken = end;
  }
}

/** Refuses a directory that does not end where the end record begins: it has entries that are not counted. */
function checkEnd(zip: ZipFile): void {
  const gap = zip.fileSize - END_RECORD_BYTES - zip.comment.length - Number(zip.readEntryCursor);
  if (gap !== 0 && gap !== ZIP64_END_RECORDS_BYTES) throw badSkill('The archive has entries that it does not count.');
}

function checkSizes(files: readonly ZipEntry[], archiveBytes: number): void {
  let total = 0;
  for (const { name, packedBytes, sizeBytes } of files) {
    if (sizeBytes > SKILL_LIMITS.fileBytes) {
      throw badSkill(`${shown(name)} unpacks to more than ${megabytes(SKILL_LIMITS.fileBytes)}.`);
    }
    if (isBomb(sizeBytes, packedBytes))
      throw badSkill(`${shown(name)} unpacks to over ${SKILL_LIMITS.ratio} times its size.`);
    total += sizeBytes;
  }
  if (total > SKILL_LIMITS.totalBytes)
    throw badSkill(`The archive unpacks to more than ${megabytes(SKILL_LIMITS.totalBytes)}.`);
  if (isBomb(total, archiveBytes)) throw badSkill(`The archive unpacks to over ${SKILL_LIMITS.ratio} times its size.`);
}

function isBomb(sizeBytes: number, packedBytes: number): boolean {
  return sizeBytes > SKILL_LIMITS.ratioFreeBytes && sizeBytes > SKILL_LIMITS.ratio * packedBytes;
}
