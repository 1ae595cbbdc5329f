import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { changeConfig, readConfig } from '../../../../clients/cli/mcp/configFile.ts';
import { UnreadableConfig } from '../../../../clients/cli/mcp/edit/format.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const module = join(import.meta.dirname, '../../../../clients/cli/mcp/configFile.ts');

describe('changeConfig', () => {
  test('makes the file and its folders for their owner alone', async () => {
    const path = join(folder, 'a/b/config.json');
    expect(await changeConfig(path, () => '{}\n')).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('{}\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, 'a/b'))).toEqual(['config.json']);
  });

  test('keeps the mode and the byte order mark, and leaves nothing beside the file', async () => {
    const path = join(folder, 'config.json');
    writeFileSync(path, '\ufeff{}\r\n');
    chmodSync(path, 0o660); // more than a usual umask leaves to a new file
    expect(await changeConfig(path, ({ text }) => text.replace('{}', '{"a":1}'))).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('\ufeff{"a":1}\r\n');
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('an equal text is not written', async () => {
    const path = join(folder, 'config.json');
    writeFileSync(path, '{}');
    utimesSync(path, 1, 1);
    expect(await changeConfig(path, ({ text }) => text)).toBe(false);
    expect(statSync(path).mtimeMs).toBe(1000);
  });

  test('a symbolic link stays one, and the file that it names is changed, over several links and when it is not there yet', async () => {
    mkdirSync(join(folder, 'dotfiles'));
    const path = join(folder, 'config.json');
    symlinkSync('dotfiles/link.json', path);
    symlinkSync('real.json', join(folder, 'dotfiles/link.json'));
    await changeConfig(path, () => 'one');
    await changeConfig(path, ({ text }) => `${text} two`);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, 'dotfiles/link.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'dotfiles/real.json'), 'utf8')).toBe('one two');
    expect(readdirSync(join(folder, 'dotfiles'))).toEqual(['link.json', 'real.json']);
  });

  test('links in a circle end with an error', async () => {
    symlinkSync('b', join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    await expect(changeConfig(join(folder, 'a'), () => 'x')).rejects.toThrow('ELOOP');
  });

  test('what a client writes between our reading and our writing is kept', async () => {
    const path = join(folder, 'config.json');
    writeFileSync(path, 'one');
    let calls = 0;
    const changed = await changeConfig(path, ({ text }) => {
      calls += 1;
      // The second call is the one under the lock; a client, which knows no lock, writes after it.
      if (calls === 2) writeFileSync(path, 'two');
      return `${text} and ours`;
    });
    expect([changed, calls, readFileSync(path, 'utf8')]).toEqual([true, 3, 'two and ours']);
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('many changes at once, from several processes, are all there', async () => {
    const path = join(folder, 'config.json');
    const program = `const { changeConfig } = await import(process.argv[1]);
      await Promise.all(Array.from({ length: 5 }, (_, i) => changeConfig(process.argv[2], ({ text }) => text + process.argv[3] + i + '\\n')));`;
    const run = (name: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, module, path, name]);
    await Promise.all(['a', 'b', 'c'].map(run));
    const lines = readFileSync(path, 'utf8').trim().split('\n').sort();
    expect(lines).toEqual(['a', 'b', 'c'].flatMap((name) => [0, 1, 2, 3, 4].map((index) => name + index)));
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test('the lock of a process that died is taken over', async () => {
    const path = join(folder, 'config.json');
    mkdirSync(`${path}.lock`);
    utimesSync(`${path}.lock`, 1, 1);
    expect(await changeConfig(path, () => 'x')).toBe(true);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('an error in the change leaves the file and no lock', async () => {
    const path = join(folder, 'config.json');
    writeFileSync(path, 'one');
    let calls = 0;
    const change = () => {
      calls += 1;
      if (calls === 2) throw new Error('no');
      return 'two';
    };
    await expect(changeConfig(path, change)).rejects.toThrow('no');
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['one', ['config.json']]);
  });

  test.each([
    ['a folder that may not be written', 0o555, 0o666],
    ['a file that may not be written, in a folder that may', 0o777, 0o444],
  ])('%s leaves the file as it is', (_name, folderMode, fileMode) => {
    const path = join(folder, 'config.json');
    writeFileSync(path, 'one');
    chmodSync(path, fileMode);
    chmodSync(folder, folderMode);
    const program = `if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
      const { changeConfig } = await import(process.argv[1]);
      await changeConfig(process.argv[2], () => 'two').catch((error) => console.log(error.code));`;
    const args = ['--input-type=module', '-e', program, module, path];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('EACCES\n');
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['one', ['config.json']]);
  });

  test('undefined removes the file', async () => {
    const path = join(folder, 'config.json');
    writeFileSync(path, 'one');
    expect(await changeConfig(path, () => undefined)).toBe(true);
    expect(await changeConfig(path, () => undefined)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('readConfig', () => {
  test('a missing file, and one below a missing folder, is an empty text', async () => {
    expect(await readConfig(join(folder, 'no/config.json'))).toEqual({ exists: false, text: '', mark: false });
  });

  test.each<[string, Buffer]>([
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
    ['Latin-1', Buffer.from('{"a":"\xe9"}', 'latin1')],
    ['a file cut within a letter', Buffer.from('{"a":"é').subarray(0, 7)],
  ])('%s is refused', async (_name, bytes) => {
    writeFileSync(join(folder, 'x'), bytes);
    await expect(readConfig(join(folder, 'x'))).rejects.toThrow(new UnreadableConfig('is not text in UTF-8'));
  });

  test('a folder and a named pipe are refused, and nothing waits', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(readConfig(join(folder, 'pipe'))).rejects.toThrow('is not a file');
    await expect(readConfig(folder)).rejects.toThrow('is not a file');
  });

  test('a file of more than 32 MiB is refused before it is read', async () => {
    writeFileSync(join(folder, 'x'), '');
    execFileSync('truncate', ['-s', '40M', join(folder, 'x')]);
    await expect(readConfig(join(folder, 'x'))).rejects.toThrow('is too large to be changed safely');
  });
});
