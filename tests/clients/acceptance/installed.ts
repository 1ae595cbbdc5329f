import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** `guildhall` as its package has it: bundled, and a command on a PATH. */
export interface Installed {
  /** A folder for commands to work in. */
  folder: string;
  /** Environment in which `guildhall` is a command. Nothing of the environment of the tests is in it. */
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** Bundles the command line into a folder of its own, and puts it on a PATH. */
export async function installGuildhall(): Promise<Installed> {
  const root = await mkdtemp(join(tmpdir(), 'guildhall-installed-'));
  const bundle = join(root, 'dist');
  const { status, stderr } = spawnSync(process.execPath, ['clients/build.ts', 'cli', bundle], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The bundle cannot be built: ${stderr}`);
  await writeFile(join(root, 'package.json'), '{"type":"module"}');
  const bin = join(root, 'bin');
  const folder = join(root, 'work');
  await mkdir(bin);
  await mkdir(folder);
  const command = join(bin, 'guildhall');
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${join(bundle, 'guildhall.js')}" "$@"\n`);
  await chmod(command, 0o755);
  const env = {
    PATH: [bin, process.env.PATH ?? ''].join(delimiter),
    HOME: join(root, 'home'),
    GUILDHALL: command,
    GUILDHALL_CONFIG_DIR: join(root, 'config'),
    LANG: 'C.UTF-8',
    TERM: 'xterm',
  };
  await mkdir(env.HOME);
  return { folder, env, remove: () => rm(root, { recursive: true, force: true }) };
}
