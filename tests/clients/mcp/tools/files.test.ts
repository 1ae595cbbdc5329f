import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileArguments, FileRefused, fileOf } from '../../../../clients/mcp/tools/files.ts';

const MAX_BYTES = 1024;
let outer: string;
let allowed: string;

beforeAll(async () => {
  outer = await realpath(await mkdtemp(join(tmpdir(), 'guildhall-files-')));
  allowed = join(outer, 'allowed');
  await mkdir(join(allowed, 'inner'), { recursive: true });
  await mkdir(join(outer, 'allowed-not'));
  await writeFile(join(allowed, 'notes.md'), '# Notes');
  await writeFile(join(allowed, 'large.txt'), 'x'.repeat(MAX_BYTES + 1));
  await writeFile(join(allowed, 'full.txt'), 'x'.repeat(MAX_BYTES));
  await writeFile(join(outer, 'secret.txt'), 'secret');
  await writeFile(join(outer, 'allowed-not', 'secret.txt'), 'secret');
  await symlink(join(outer, 'secret.txt'), join(allowed, 'link.txt'));
  await symlink(outer, join(allowed, 'up'));
  await symlink(join(allowed, 'notes.md'), join(allowed, 'inner', 'notes-link.md'));
  await symlink(allowed, join(outer, 'alias'));
});

afterAll(() => rm(outer, { recursive: true }));

const read = (given: FileArguments, folders = [allowed]) => fileOf(given, { folders }, MAX_BYTES);

/** The field and the message of the refusal. */
async function refusal(given: FileArguments, folders?: string[]): Promise<string> {
  const error = await read(given, folders).then(
    () => undefined,
    (each: unknown) => each,
  );
  expect(error).toBeInstanceOf(FileRefused);
  return `${(error as FileRefused).field} ${(error as FileRefused).message}`;
}

const text = (data: unknown): string => new TextDecoder().decode(data as Uint8Array);

describe('file_path', () => {
  test('reads a file of an allowed folder, by its whole path or from the first folder on', async () => {
    for (const path of [join(allowed, 'notes.md'), 'notes.md', './inner/../notes.md']) {
      const file = await read({ file_path: path });
      expect([file?.name, text(file?.data)]).toEqual(['notes.md', '# Notes']);
    }
  });

  test('takes another name for the upload, and a file as large as may be', async () => {
    expect((await read({ file_path: 'notes.md', file_name: 'SKILL.md' }))?.name).toBe('SKILL.md');
    expect(text((await read({ file_path: 'full.txt' }))?.data)).toHaveLength(MAX_BYTES);
  });

  test('follows links that stay inside, also where the folder itself is a link', async () => {
    expect((await read({ file_path: 'inner/notes-link.md' }))?.name).toBe('notes.md');
    expect((await read({ file_path: 'notes.md' }, [join(outer, 'alias')]))?.name).toBe('notes.md');
  });

  test.each([
    ['a path that climbs out', '../secret.txt'],
    ['a link that leads out', 'link.txt'],
    ['a folder that is a link out', 'up/secret.txt'],
    ['a folder whose name only begins alike', '../allowed-not/secret.txt'],
    ['a whole path elsewhere', '/etc/passwd'],
    ['a file elsewhere that does not exist', '/etc/does-not-exist'],
    ['the allowed folder itself', '.'],
  ])('refuses %s', async (_what, path) => {
    expect(await refusal({ file_path: path })).toBe(`file_path is outside of the allowed folders: ${allowed}`);
  });

  test('refuses what does not exist, is no file, or is too large', async () => {
    expect(await refusal({ file_path: 'none.md' })).toBe('file_path none.md does not exist');
    expect(await refusal({ file_path: 'inner' })).toBe('file_path is not a file');
    expect(await refusal({ file_path: 'large.txt' })).toBe('file_path is larger than 1 KiB');
  });

  test('is refused by a server that reads no files', async () => {
    expect(await refusal({ file_path: 'notes.md' }, [])).toBe(
      'file_path cannot be read by this server: send file_base64 and file_name',
    );
  });

  test('an allowed folder that does not exist has no files', async () => {
    expect(await refusal({ file_path: join(allowed, 'notes.md') }, [join(outer, 'none')])).toContain('is outside');
  });
});

describe('file_base64', () => {
  test.each([
    ['plain', 'IyBOb3Rlcw=='],
    ['with line ends', 'IyBO\nb3Rl\r\ncw=='],
    ['as a data address', 'data:text/markdown;base64,IyBOb3Rlcw=='],
  ])('%s is the content', async (_what, base64) => {
    const file = await read({ file_base64: base64, file_name: 'notes.md' }, []);
    expect([file?.name, text(file?.data)]).toEqual(['notes.md', '# Notes']);
  });

  test('needs a name, must be base64, and has a bound', async () => {
    expect(await refusal({ file_base64: 'eA==' })).toMatch(/^file_name is needed/);
    expect(await refusal({ file_base64: '# Notes', file_name: 'a.md' })).toBe('file_base64 is not base64');
    const large = Buffer.alloc(MAX_BYTES + 1).toString('base64');
    expect(await refusal({ file_base64: large, file_name: 'a.md' })).toBe('file_base64 is larger than 1 KiB');
  });

  test('comes instead of file_path', async () => {
    expect(await refusal({ file_base64: 'eA==', file_path: 'notes.md' })).toMatch(/^file_base64 comes instead/);
  });
});

test('without a file there is none, and a name alone is a mistake', async () => {
  expect(await read({})).toBeUndefined();
  expect(await refusal({ file_name: 'a.md' })).toMatch(/^file_name goes with/);
});
