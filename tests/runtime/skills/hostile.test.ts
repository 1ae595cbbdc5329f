import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ApiError } from '../../../core/errors.ts';
import { readSkill } from '../../../runtime/skills/readSkill.ts';
import { poll } from '../../support/poll.ts';
import { rawZip, skillMd, zipOf } from '../../support/tools/skills.ts';
import { bomb, HOSTILE, lyingBomb } from './hostileArchives.ts';
import { type Folder, faultOf, filesOf, makeFolder } from './skillFile.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

describe('hostile and broken archives', () => {
  test.each(HOSTILE)('%s is refused', async (_what, archive, says) => {
    const path = await folder.put(await archive());
    const before = await openFiles();
    const { code, message } = await faultOf(path);
    expect(code).toBe('INVALID_SKILL_ZIP');
    expect(message).toMatch(says);
    expect(message).toMatch(/^[^\p{Cc}]{10,400}$/u);
    // Files are closed in the background.
    await poll(openFiles, (count) => count <= before);
  });

  test('archives with changed bytes are either read or refused', async () => {
    const files = { 'SKILL.md': skillMd(), 'a/b.md': 'text '.repeat(50), 'c.bin': randomBytes(99), 'd/': '' };
    const seeds = [await zipOf(files), await zipOf(files, { forceZip64Format: true }), rawZip([{ name: 'SKILL.md' }])];
    // A fixed seed, so that a failure can be reproduced.
    let state = 42;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const outcomes = new Set<string>();
    for (let round = 0; round < 600; round += 1) {
      const copy = Buffer.from(seeds[round % seeds.length] as Buffer);
      for (let change = 0; change <= next(4); change += 1)
        copy[4 + next(copy.length - 4)] = [0, 255, next(256)][next(3)] ?? 0;
      const path = await folder.put(copy);
      try {
        await filesOf(await readSkill({ path, name: 'x.zip' }, 'w'));
        outcomes.add('read');
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        outcomes.add(error.code);
      }
    }
    expect([...outcomes].sort()).toEqual(['INVALID_SKILL_ZIP', 'read']);
  });
});

/** The number of open files of this process. Its threads have descriptors of other kinds. */
async function openFiles(): Promise<number> {
  const descriptors = await readdir('/proc/self/fd');
  const targets = await Promise.all(descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => '')));
  return targets.filter((target) => target.startsWith('/')).length;
}

/** Bytes that compress to about a tenth. */
function compressible(length: number): Buffer {
  const content = Buffer.alloc(length, 'some words ');
  for (let at = 0; at + 100 < length; at += 1_000) randomBytes(80).copy(content, at);
  return content;
}

describe('memory', () => {
  /** Peak memory, in megabytes, of a process that reads the skill. */
  async function peakOf(archive: Buffer): Promise<number> {
    const path = await folder.put(archive);
    const program = `
      const { readFileSync } = await import('node:fs');
      const { readSkill } = await import(${JSON.stringify(import.meta.resolve('../../../runtime/skills/readSkill.ts'))});
      const outcome = await readSkill({ path: ${JSON.stringify(path)}, name: 'x.zip' }, 'w').then(() => 'read', (e) => e.message);
      console.log(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] / 1024, outcome);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    return Number(stdout.split(' ')[0]);
  }

  test('a zip bomb needs no more memory than a small skill', async () => {
    const small = await peakOf(await zipOf({ 'SKILL.md': skillMd() }));
    expect((await peakOf(bomb())) - small).toBeLessThan(12);
    expect((await peakOf(lyingBomb())) - small).toBeLessThan(12);
  });

  test('48 MiB of files are checked with a fraction of that memory', async () => {
    const small = await peakOf(await zipOf({ 'SKILL.md': skillMd() }));
    const archive = rawZip([
      { name: 'SKILL.md', data: skillMd() },
      ...['1', '2', '3'].map((name) => ({ name, data: compressible(16 * 1_048_576) })),
    ]);
    expect(archive.length).toBeLessThan(10 * 1_048_576);
    expect((await peakOf(archive)) - small).toBeLessThan(36);
  });
});
