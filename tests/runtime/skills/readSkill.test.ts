import { randomBytes } from 'node:crypto';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { readSkill } from '../../../runtime/skills/readSkill.ts';
import { type RawEntry, rawZip, skillMd, zipOf } from '../../support/tools/skills.ts';
import { type Folder, faultOf, filesOf, makeFolder } from './skillFile.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

/** The files of an accepted upload, by path: the size, whether it is binary, and the content. */
async function read(content: string | Buffer, name = 'skill.zip') {
  const skill = await readSkill({ path: await folder.put(content), name }, 'w');
  const files = await filesOf(skill);
  for (const file of files) expect(file.sizeBytes).toBe(file.content.length);
  return Object.fromEntries(
    files.map(({ path, binary, content: bytes }) => [path, { binary, text: bytes.toString('latin1') }]),
  );
}
const pathsOf = async (content: Buffer) => Object.keys(await read(content));

const MD = skillMd('name: a\ndescription: b');

describe('archives', () => {
  test.each([
    ['deflated', { compress: true }],
    ['stored', { compress: false }],
    ['with the records of ZIP64', { forceZip64Format: true }],
    ['with a comment', { comment: 'Made by hand' }],
  ])('every file of one that is %s is stored unchanged', async (_what, options) => {
    const bytes = randomBytes(100_000);
    const archive = await zipOf(
      { 'SKILL.md': MD, 'scripts/run.py': 'print("é")\n', 'a/b/c.bin': bytes, empty: '' },
      options,
    );
    expect(await read(archive)).toEqual({
      'SKILL.md': { binary: false, text: MD },
      'scripts/run.py': { binary: false, text: Buffer.from('print("é")\n').toString('latin1') },
      'a/b/c.bin': { binary: true, text: bytes.toString('latin1') },
      empty: { binary: false, text: '' },
    });
  });

  test('the files can be read more than once', async () => {
    const skill = await readSkill(
      { path: await folder.put(await zipOf({ 'SKILL.md': MD, a: 'x' })), name: 'x.zip' },
      'w',
    );
    expect(await filesOf(skill)).toEqual(await filesOf(skill));
  });

  test.each(['skill.zip', 'skill.SKILL', 'SKILL.md', 'upload'])(
    'an archive is recognised whatever its name: %s',
    async (name) => {
      expect(Object.keys(await read(await zipOf({ 'SKILL.md': MD, a: 'x' }), name))).toEqual(['SKILL.md', 'a']);
    },
  );

  test('a folder around all files is not part of their paths', async () => {
    const files = { 'order-triage/': '', 'order-triage/SKILL.md': MD, 'order-triage/references/a.md': 'x' };
    expect(await pathsOf(await zipOf(files))).toEqual(['SKILL.md', 'references/a.md']);
    const deep = { 'repo-main/skills/a/SKILL.md': MD, 'repo-main/skills/a/b.md': 'x' };
    expect(await pathsOf(await zipOf(deep))).toEqual(['SKILL.md', 'b.md']);
  });

  test('only the front matter of the outermost SKILL.md is read; others are ordinary files', async () => {
    const files = { 'examples/other/SKILL.md': 'no front matter', 'SKILL.md': MD };
    expect((await pathsOf(await zipOf(files))).sort()).toEqual(['SKILL.md', 'examples/other/SKILL.md']);
  });

  test('SKILL.md in lower case is kept as SKILL.md', async () => {
    expect(await pathsOf(await zipOf({ 'a/skill.md': MD }))).toEqual(['SKILL.md']);
  });

  test('empty folders and the entries that macOS adds are not stored', async () => {
    const junk = { '__MACOSX/._SKILL.md': 'x', '.DS_Store': 'x', 'a/.DS_Store': 'x', 'b/': '', 'a/c/': '' };
    expect(await pathsOf(await zipOf({ ...junk, 'SKILL.md': MD, 'a/d': 'x' }))).toEqual(['SKILL.md', 'a/d']);
    const around = { '__MACOSX/x/._SKILL.md': 'x', 'x/SKILL.md': MD, '.DS_Store': '' };
    expect(await pathsOf(await zipOf(around))).toEqual(['SKILL.md']);
  });

  test('names are UTF-8, with or without the flag, and CP437 when they are not valid UTF-8', async () => {
    const entries: RawEntry[] = [
      { name: 'SKILL.md', data: MD },
      { name: 'größe/日本語.md', flags: 0x800 },
      { name: 'größe/été 🎉.md', flags: 0 },
      { name: Buffer.from('Gr\x94\xe1e.md', 'latin1'), flags: 0 },
    ];
    expect((await pathsOf(rawZip(entries))).slice(1)).toEqual(['größe/日本語.md', 'größe/été 🎉.md', 'Größe.md']);
  });

  test('a file is text when it is UTF-8 without NUL, also when a character spans two chunks', async () => {
    const long = `${'x'.repeat(65_535)}é${'y'.repeat(65_534)}日本`;
    const kinds = await read(
      await zipOf({
        'SKILL.md': MD,
        long,
        marked: '\uFEFFtext',
        cut: Buffer.from('é').subarray(0, 1),
        nul: 'a\0b',
        latin1: Buffer.from('é', 'latin1'),
        late: Buffer.concat([Buffer.from(long), Buffer.from([0xff])]),
      }),
    );
    const binary = Object.entries(kinds).flatMap(([path, kind]) => (kind.binary ? [path] : []));
    expect(binary).toEqual(['cut', 'nul', 'latin1', 'late']);
  });

  test('documents in a ZIP container and single compressed files are ordinary files', async () => {
    const docx = await zipOf({ '[Content_Types].xml': '<Types/>', 'word/document.xml': '<w/>' });
    const odt = await zipOf({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': '<o/>' });
    const files = { 'SKILL.md': MD, 'template.docx': docx, 'template.odt': odt, 'data.csv.gz': gzipSync('a,b') };
    expect(await pathsOf(await zipOf(files))).toEqual(Object.keys(files));
  });

  test('sizes may follow the content, as in an archive that was written as a stream', async () => {
    const SIZES_FOLLOW = 0x808;
    const streamed = (name: string, data: string): RawEntry => {
      const descriptor = Buffer.alloc(16);
      return {
        name,
        data,
        flags: SIZES_FOLLOW,
        packed: Buffer.concat([deflateRawSync(data), descriptor]),
        packedSize: deflateRawSync(data).length,
        local: { crc: 0, size: 0, packedSize: 0 },
      };
    };
    expect(await pathsOf(rawZip([streamed('SKILL.md', MD), streamed('a', 'x')]))).toEqual(['SKILL.md', 'a']);
  });

  test('the local header may have the placeholder sizes of ZIP64', async () => {
    const local = { size: 0xffffffff, packedSize: 0xffffffff };
    expect(await pathsOf(rawZip([{ name: 'SKILL.md', data: MD, local }]))).toEqual(['SKILL.md']);
  });

  test('a small file may have any compression ratio', async () => {
    const archive = await zipOf({ 'SKILL.md': MD, 'zeros.bin': Buffer.alloc(1_000_000) });
    expect(await pathsOf(archive)).toEqual(['SKILL.md', 'zeros.bin']);
  });

  test('1000 entries, and paths of 255 characters and 16 parts, are accepted', async () => {
    const files = Object.fromEntries(Array.from({ length: 997 }, (_, n) => [`${n}`, '']));
    const archive = await zipOf({ ...files, 'SKILL.md': MD, ['x'.repeat(255)]: '', [`${'a/'.repeat(15)}b`]: '' });
    expect(await pathsOf(archive)).toHaveLength(1000);
  });
});

describe('lone Markdown files', () => {
  test.each(['SKILL.md', 'notes.MD', 'skill.zip', 'upload'])('%s is kept as SKILL.md', async (name) => {
    expect(await read(MD, name)).toEqual({ 'SKILL.md': { binary: false, text: MD } });
  });

  test('one in UTF-8 with a byte order mark is kept with it', async () => {
    const marked = Buffer.from(`\uFEFF${MD}`);
    expect(await read(marked, 'a.md')).toEqual({ 'SKILL.md': { binary: false, text: marked.toString('latin1') } });
  });

  test.each([
    ['without front matter', '# Title\n'],
    ['that is empty', ''],
  ])('one %s is refused', async (_what, content) => {
    const { code, message } = await faultOf(await folder.put(content), 'SKILL.md');
    expect([code, message]).toEqual(['INVALID_SKILL_ZIP', 'SKILL.md has no front matter: its first line must be ---.']);
  });
});

describe('other kinds of files', () => {
  test.each([
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), 'skill.zip'],
    ['a PDF', Buffer.from('%PDF-1.4\n\xe2\xe3\xcf\xd3', 'latin1'), 'skill.skill'],
    ['a gzip archive', gzipSync('x'), 'skill.zip'],
    ['text in UTF-16', Buffer.from(MD, 'utf16le'), 'SKILL.md'],
    ['text in Latin-1', Buffer.from(skillMd('name: é\ndescription: x'), 'latin1'), 'SKILL.md'],
    ['text with NUL', `${MD}\0`, 'SKILL.md'],
    ['an archive with something in front of it', Buffer.concat([Buffer.from([0xff]), rawZip([])]), 'skill.zip'],
    ['a skill that is called an image', MD, 'skill.png'],
    ['an archive that is called a document', rawZip([{ name: 'SKILL.md', data: MD }]), 'skill.docx'],
    ['Markdown that is called text', MD, 'SKILL.txt'],
  ])('%s is not accepted', async (_what, content, name) => {
    expect((await faultOf(await folder.put(content), name)).code).toBe('UNSUPPORTED_MEDIA_TYPE');
  });
});
