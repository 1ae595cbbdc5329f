import { randomBytes } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { type RawEntry, rawZip, skillMd, zipOf } from '../../support/tools/skills.ts';

/** An archive that must be refused: its description, its bytes, and the expected message. */
export type Hostile = [what: string, archive: () => Buffer | Promise<Buffer>, says: RegExp];

const SKILL: RawEntry = { name: 'SKILL.md', data: skillMd() };
const MODE = (mode: number) => (mode << 16) >>> 0;

/** A valid skill with these entries added. */
const withEntries =
  (...entries: RawEntry[]) =>
  () =>
    rawZip([SKILL, ...entries]);

/** Where the content of the only entry of an archive begins. */
const HEADER_BYTES = 30;

/** 20 MB of zeros in 20 KB. */
export const bomb = () => rawZip([SKILL, { name: 'zeros.bin', data: Buffer.alloc(20_000_000) }]);
/** 50 MB of zeros in 48 KB, with a header that says they are small. */
export const lyingBomb = () => {
  const packed = deflateRawSync(Buffer.alloc(50_000_000));
  return rawZip([SKILL, { name: 'zeros.bin', packed, size: 900_000 }]);
};

/** A file whose header says this unpacked size, with enough packed bytes to make that plausible. */
function sized(name: string, size: number): RawEntry {
  return { name, packed: randomBytes(250_000), size };
}

/** An archive whose 500 entries all point to the same packed zeros. */
function overlapping(): Buffer {
  const packed = deflateRawSync(Buffer.alloc(60_000));
  const kernel: RawEntry = { name: 'a', packed, size: 60_000, crc: 0 };
  const offset = rawZip([SKILL]).indexOf('PK\x01\x02');
  const copies = Array.from({ length: 500 }, (): RawEntry => ({ ...kernel, offset, directoryOnly: true }));
  return rawZip([SKILL, kernel, ...copies.map((copy, index) => ({ ...copy, name: `a${index}` }))]);
}

function zip64Extra(...values: bigint[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(value, 4 + 8 * index);
  return extra;
}

/** A harmless name, and an extra field (Info-ZIP Unicode Path) with a name that replaces it. */
function unicodePath(harmless: string, name: string): RawEntry {
  const data = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from(name)]);
  data.writeUInt32LE(crc32(harmless), 1);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(data.length, 2);
  return { name: harmless, extra: Buffer.concat([head, data]) };
}

/** An archive with ZIP64 records at an offset beyond any file. */
function zip64Nowhere(): Buffer {
  const locator = Buffer.alloc(20, 0xff);
  locator.write('PK\x06\x07', 'latin1');
  return rawZip([SKILL], { before: locator });
}

/** Changes one byte of an archive. */
function changed(archive: Buffer, at: number): Buffer {
  const copy = Buffer.from(archive);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

/** Every known way to make an archive harmful or broken. */
export const HOSTILE: readonly Hostile[] = [
  // Paths out of the archive
  ['a path that climbs out', withEntries({ name: '../evil.sh', data: 'x' }), /leads out of the archive/],
  ['a path that climbs out half-way', withEntries({ name: 'a/../../evil.sh' }), /leads out/],
  ['a path that ends in two dots', withEntries({ name: 'a/..' }), /leads out/],
  ['a folder that climbs out', withEntries({ name: '../' }), /leads out/],
  ['an absolute path', withEntries({ name: '/etc/passwd', data: 'x' }), /is absolute/],
  ['a drive letter', withEntries({ name: 'C:/Windows/evil.dll' }), /is absolute/],
  ['a path with backslashes', withEntries({ name: '..\\evil.sh' }), /has a backslash/],
  ['a network share', withEntries({ name: '\\\\host\\share' }), /has a backslash/],
  ['a path with NUL', withEntries({ name: 'note.md\0.sh' }), /control characters/],
  ['a path with a line break', withEntries({ name: 'a\nb' }), /control characters/],
  ['a path that is not UTF-8 though it says so', withEntries({ name: Buffer.from([0x61, 0xff]) }), /not UTF-8/],
  ['an empty path', withEntries({ name: '' }), /without a name/],
  ['a path with an empty part', withEntries({ name: 'a//b' }), /empty part/],
  ['a path with a dot part', withEntries({ name: './a' }), /empty part/],
  ['a folder without a name', withEntries({ name: '/' }), /is absolute/],
  ['a path that is too long', withEntries({ name: `${'x'.repeat(256)}` }), /more than 255 characters/],
  ['a path that is too deep', withEntries({ name: `${'a/'.repeat(16)}b` }), /more than 16 parts/],
  ['a hidden path in an extra field', withEntries(unicodePath('safe.txt', '../evil.sh')), /leads out/],
  // Names that collide
  ['the same path twice', withEntries({ name: 'a.md' }, { name: 'a.md', data: 'other' }), /two files at "a.md"/],
  ['two SKILL.md', withEntries({ ...SKILL, data: skillMd('name: other\ndescription: x') }), /two files at "SKILL.md"/],
  ['paths that differ in case', withEntries({ name: 'a/Read.md' }, { name: 'a/read.md' }), /the same on some systems/],
  ['SKILL.md in two cases', withEntries({ ...SKILL, name: 'skill.md' }), /the same on some systems/],
  ['folders that differ in case', withEntries({ name: 'A/x' }, { name: 'a/y' }), /the same on some systems/],
  [
    'paths that differ in how accents are composed',
    withEntries({ name: 'é' }, { name: 'e\u0301' }),
    /the same on some/,
  ],
  ['paths that differ in sharp s', withEntries({ name: 'ß.md' }, { name: 'SS.md' }), /the same on some systems/],
  ['a file that is a folder too', withEntries({ name: 'a' }, { name: 'a/b' }), /a file and a folder at "a"/],
  ['a folder that is a file too', withEntries({ name: 'a/' }, { name: 'a' }), /a file and a folder at "a"/],
  // Entries that are not files
  ['a symbolic link', withEntries({ name: 'a', data: '/etc', attributes: MODE(0o120777) }), /is a link/],
  ['a link that is ignored', withEntries({ name: '__MACOSX/a', attributes: MODE(0o120777) }), /is a link/],
  ['a device', withEntries({ name: 'a', attributes: MODE(0o020666) }), /is a link, or another thing/],
  ['a pipe', withEntries({ name: 'a', attributes: MODE(0o010666) }), /is a link, or another thing/],
  ['a folder that is named as a file', withEntries({ name: 'a', attributes: MODE(0o040755) }), /another thing/],
  ['a folder with content', withEntries({ name: 'a/', data: 'x', method: 0 }), /The folder "a\/" has content/],
  ['an encrypted file', withEntries({ name: 'a', data: 'x', flags: 1 }), /is encrypted/],
  ['a strongly encrypted file', withEntries({ name: 'a', data: 'x', flags: 0x41 }), /encrypted/],
  ['a file with a masked header', withEntries({ name: 'a', data: 'x', flags: 0x2000 }), /is encrypted/],
  ['a file encrypted in front of its content only', withEntries({ name: 'a', local: { flags: 1 } }), /two things/],
  ['an unknown packing', withEntries({ name: 'a', data: 'x', method: 12 }), /other than stored or deflated/],
  ['a patch of a file', withEntries({ name: 'a', data: 'x', flags: 0x20 }), /other than stored or deflated/],
  // Too much
  [
    'zeros beside bytes that do not pack',
    () =>
      rawZip([
        SKILL,
        { name: 'random', data: randomBytes(400_000) },
        { name: 'zeros', data: Buffer.alloc(20_000_000) },
      ]),
    /"zeros" unpacks to over 100 times its size/,
  ],
  ['20 MB of zeros in 20 KB', bomb, /over 100 times its size/],
  [
    '50 MB of zeros in 48 KB',
    withEntries(...[1, 2, 3].map((n) => ({ name: `${n}`, data: Buffer.alloc(16_666_667) }))),
    /over 100 times its size/,
  ],
  ['a bomb that says that it is small', lyingBomb, /is larger than the archive says/],
  ['a file over 20 MiB', withEntries(sized('a', 20_971_521)), /"a" unpacks to more than 20 MiB/],
  [
    'files over 50 MiB together',
    withEntries(...['1', '2', '3'].map((name) => sized(name, 18_000_000))),
    /The archive unpacks to more than 50 MiB/,
  ],
  [
    'many files that are small bombs',
    withEntries(...Array.from({ length: 50 }, (_, n) => ({ name: `${n}`, data: Buffer.alloc(1_000_000) }))),
    /The archive unpacks to over 100 times its size/,
  ],
  [
    'over 1000 entries',
    withEntries(...Array.from({ length: 1_000 }, (_, n) => ({ name: `${n}`, method: 0 }))),
    /has 1001 entries/,
  ],
  [
    'over 1000 folders',
    withEntries(...Array.from({ length: 1_000 }, (_, n) => ({ name: `${n}/`, method: 0 }))),
    /has 1001 entries/,
  ],
  ['entries that share their content', overlapping, /says two things about "a0"/],
  [
    'an entry inside another',
    () => {
      const inner = rawZip([{ name: 'b', data: 'inner', method: 0 }]);
      const outer: RawEntry = { name: 'a', data: inner, method: 0 };
      const start = rawZip([SKILL]).indexOf('PK\x01\x02');
      return rawZip([SKILL, outer, { name: 'b', data: 'inner', method: 0, offset: start + 31, directoryOnly: true }]);
    },
    /overlaps another part/,
  ],
  [
    'a file that runs into the directory',
    withEntries({ name: 'a', data: 'x', method: 0, size: 20, packedSize: 20 }),
    /"a" overlaps another part/,
  ],
  // False headers and damage
  ['a file that is larger than it says', withEntries({ name: 'a', data: 'x'.repeat(99), size: 98 }), /is larger than/],
  [
    'a file that is smaller than it says',
    withEntries({ name: 'a', data: 'x'.repeat(99), size: 100 }),
    /is smaller than/,
  ],
  ['a stored file of two sizes', withEntries({ name: 'a', data: 'xyz', method: 0, size: 2 }), /damaged/],
  ['a file that says that it is empty', withEntries({ name: 'a', data: 'x'.repeat(99), size: 0 }), /is larger than/],
  ['two sizes of one file', withEntries({ name: 'a', data: 'x', local: { size: 1_000 } }), /says two things about "a"/],
  [
    'two packed sizes of one file',
    withEntries({ name: 'a', data: 'x', local: { packedSize: 9 } }),
    /says two things about "a"/,
  ],
  ['two checksums of one file', withEntries({ name: 'a', data: 'x', local: { crc: 1 } }), /says two things about "a"/],
  ['two names of one file', withEntries({ name: 'a', data: 'x', local: { name: 'b' } }), /says two things about "a"/],
  [
    'two packings of one file',
    withEntries({ name: 'a', data: 'x', local: { method: 0 } }),
    /says two things about "a"/,
  ],
  ['a wrong checksum', withEntries({ name: 'a', data: 'x', crc: 1 }), /its checksum differs/],
  [
    'a wrong checksum of a stored file',
    withEntries({ name: 'a', data: 'x', method: 0, crc: 1 }),
    /its checksum differs/,
  ],
  [
    'bytes that do not inflate',
    withEntries({ name: 'a', packed: Buffer.alloc(9, 0xff), size: 5 }),
    /cannot be unpacked/,
  ],
  [
    'content after the end of the packed content',
    withEntries({ name: 'a', packed: Buffer.concat([deflateRawSync('x'), Buffer.alloc(99)]), size: 1 }),
    /cannot be unpacked/,
  ],
  [
    'packed content that stops short',
    withEntries({ name: 'a', packed: deflateRawSync(Buffer.from('some text')).subarray(0, 5), size: 9 }),
    /cannot be unpacked/,
  ],
  [
    'deflated content without a byte',
    withEntries({ name: 'a', packed: Buffer.alloc(0), size: 1 }),
    /cannot be unpacked/,
  ],
  ['an entry beyond the end', withEntries({ name: 'a', directoryOnly: true, offset: 99_999 }), /damaged/],
  ['an entry that is not where it says', withEntries({ name: 'a', directoryOnly: true, offset: 5 }), /damaged/],
  [
    'an entry beyond the end of all numbers',
    withEntries({
      name: 'a',
      directoryOnly: true,
      size: 0xffffffff,
      packedSize: 0xffffffff,
      offset: 0xffffffff,
      extra: zip64Extra(1n, 2n ** 64n - 1n, 2n ** 64n - 1n),
    }),
    /damaged/,
  ],
  ['an end record beyond the end of all numbers', zip64Nowhere, /damaged/],
  ['a directory beyond the end', () => rawZip([SKILL], { directoryOffset: 99_999 }), /damaged/],
  ['more entries counted than there are', () => rawZip([SKILL], { count: 2 }), /damaged/],
  ['fewer entries counted than there are', () => rawZip([SKILL, { name: 'a' }], { count: 1 }), /does not count/],
  ['no entry counted', () => rawZip([SKILL], { count: 0 }), /does not count/],
  ['a part of an archive on several disks', () => rawZip([SKILL], { disk: 1 }), /damaged/],
  ['bytes after the end', () => rawZip([SKILL], { after: Buffer.from('#!/bin/sh') }), /bytes that are not part of it/],
  ['a comment that is cut off', () => rawZip([SKILL], { commentLength: 9 }), /damaged/],
  ['an archive without its end', async () => (await zipOf({ 'SKILL.md': skillMd() })).subarray(0, -9), /damaged/],
  ['an archive without its middle', () => rawZip([SKILL]).subarray(0, 60), /damaged/],
  ['four bytes of an archive', () => Buffer.from('PK\x03\x04'), /damaged/],
  ['a changed byte in the content', () => changed(rawZip([{ ...SKILL, method: 0 }]), HEADER_BYTES + 8 + 9), /checksum/],
  // Content of the skill
  ['an archive inside', withEntries({ name: 'a.bin', data: rawZip([SKILL]) }), /"a.bin" is itself an archive/],
  [
    'an archive inside that is stored',
    withEntries({ name: 'a', data: rawZip([SKILL]), method: 0 }),
    /itself an archive/,
  ],
  ['an empty archive inside', withEntries({ name: 'a', data: rawZip([]) }), /itself an archive/],
  [
    'a 7z archive inside',
    withEntries({ name: 'a', data: Buffer.from('377abcaf271c0004', 'hex') }),
    /itself an archive/,
  ],
  [
    'a RAR archive inside',
    withEntries({ name: 'a', data: Buffer.from('526172211a070100', 'hex') }),
    /itself an archive/,
  ],
  ['an empty archive', () => rawZip([]), /has no SKILL.md/],
  ['an archive without SKILL.md', () => rawZip([{ name: 'README.md', data: 'x' }]), /has no SKILL.md/],
  ['a folder that is called SKILL.md', () => rawZip([{ name: 'SKILL.md/', method: 0 }]), /has no SKILL.md/],
  ['a SKILL.md that is ignored', () => rawZip([{ ...SKILL, name: '__MACOSX/SKILL.md' }]), /has no SKILL.md/],
  [
    'two skills',
    () =>
      rawZip([
        { ...SKILL, name: 'a/SKILL.md' },
        { ...SKILL, name: 'b/SKILL.md' },
      ]),
    /must be in the folder/,
  ],
  [
    'a file outside the folder',
    () => rawZip([{ ...SKILL, name: 'a/SKILL.md' }, { name: 'b' }]),
    /must be in the folder/,
  ],
  [
    'a SKILL.md that is not text',
    () => rawZip([{ name: 'SKILL.md', data: Buffer.from('---\nname: \xff', 'latin1') }]),
    /UTF-8/,
  ],
  [
    'a SKILL.md in UTF-16',
    () => rawZip([{ name: 'SKILL.md', data: Buffer.from(skillMd(), 'utf16le') }]),
    /not text in UTF-8/,
  ],
  ['a SKILL.md without front matter', () => rawZip([{ name: 'SKILL.md', data: '# Title\n' }]), /no front matter/],
];
