import type { Entry, ZipFile } from 'yauzl';
import { openArchive } from '../files/archive.ts';
import { SKILL_LIMITS } from './limits.ts';
import { checkName, isJunk, nameOf, PathSet } from './paths.ts';
import { badSkill, megabytes, shown } from './refusal.ts';

/** A file of an archive, as the directory describes it; `readZipEntry` holds its content against that. */
export interface ZipEntry {
  name: string;
  /** Where its packed bytes begin in the archive, and how many they are. */
  offset: number;
  packedBytes: number;
  sizeBytes: number;
  deflated: boolean;
  crc32: number;
}

const STORED = 0;
const DEFLATED = 8;
/** Flags: encrypted, a patch of another file, strongly encrypted, directory encrypted. */
const ENCRYPTED = 0x2041;
const PATCH = 0x20;
/** Flag: sizes and CRC follow the content, and the local header may hold zeros for them. */
const SIZES_FOLLOW = 0x8;
const ZIP64_SIZE = 0xffffffff;
const END_RECORD_BYTES = 22;
const ZIP64_END_RECORDS_BYTES = 76;
/** Unix file types in the upper half of the external attributes. */
const FILE_TYPE = 0o170000;
const FOLDER = 0o040000;
const REGULAR = 0o100000;

/**
 * The files that an archive holds, checked as far as can be without unpacking: names, kinds, sizes, and that each part of the
 * archive belongs to one entry only. Format: PKWARE APPNOTE 6.3.10. Throws INVALID_SKILL_ZIP.
 */
export async function readZipDirectory(path: string): Promise<ZipEntry[]> {
  const zip = await readable(() => openArchive(path, { decodeStrings: false }));
  try {
    return await readable(() => filesOf(zip));
  } finally {
    zip.close();
  }
}

/** What yauzl says about a broken archive becomes an INVALID_SKILL_ZIP; failures of the disk and our own faults stay. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // yauzl throws plain errors; those of the system have a code, our own a name.
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

/** Encrypted entries, links, devices and folders with content are no files. */
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

/** Where the content begins. The header in front of it must say what the directory says: tools differ in which they believe. */
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

/** Entries that share bytes unpack to far more than the archive holds (D. Fifield, "A better zip bomb", 2019). */
function checkRanges(ranges: { name: string; start: number; end: number }[], directoryStart: number): void {
  let taken = 0;
  for (const { name, start, end } of ranges.sort((a, b) => a.start - b.start)) {
    if (start < taken || end > directoryStart) throw badSkill(`${shown(name)} overlaps another part of the archive.`);
    taken = end;
  }
}

/** The directory must end where the end record begins: else it has entries that are not counted. */
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
