import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from '../../../clients/cli/run.ts';
import type { TestApp } from '../http/app.ts';

/** What a command came to. */
export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** How a command is run. */
export interface CommandOptions {
  key?: string;
  env?: Record<string, string>;
  fetch?: typeof fetch;
  /** The command has a terminal, and each of its questions gets what this answers. */
  answer?: () => Promise<string>;
}

/** A folder of agents as code, and the command line in it. */
export interface CodeFolder {
  path: string;
  /** Writes files, text by path. */
  write(files: Record<string, string | Uint8Array>): Promise<void>;
  read(path: string): Promise<string>;
  /** Text of every file by path, without the lock file and the schemas. */
  files(): Promise<Record<string, string>>;
  remove(path: string): Promise<void>;
  /** Runs `guildhall` with a key, in this process. */
  run(argv: string[], options?: CommandOptions): Promise<CommandResult>;
}

/** Makes folders below one that goes at the end of the test file: `const folders = useCodeFolders(() => here.app);`. */
export function useCodeFolders(app: () => TestApp): () => Promise<CodeFolder> {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'guildhall-code-'));
  });
  afterAll(async () => {
    await rm(root, { recursive: true });
  });
  let count = 0;
  return async () => {
    const path = join(root, `folder-${++count}`);
    await mkdir(path);
    return folderAt(path, app);
  };
}

function folderAt(path: string, app: () => TestApp): CodeFolder {
  return {
    path,
    async write(files) {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), content);
      }
    },
    read: (name) => readFile(join(path, name), 'utf8'),
    async files() {
      const names = await readdir(path, { recursive: true, withFileTypes: true });
      const found = names
        .filter((item) => item.isFile())
        .map((item) => join(item.parentPath, item.name).slice(path.length + 1))
        .filter((name) => !name.startsWith('.guildhall') && name !== 'guildhall.lock.json')
        .sort();
      return Object.fromEntries(
        await Promise.all(found.map(async (name) => [name, await readFile(join(path, name), 'utf8')])),
      );
    },
    remove: (name) => rm(join(path, name), { recursive: true }),
    async run(argv, { key = app().workspace.apiKey, env = {}, fetch, answer } = {}) {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const texts = [stdout, stderr].map(async (stream) => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString();
      });
      const stdin = new PassThrough();
      if (!answer) stdin.end();
      stderr.on('data', async (chunk) => {
        if (answer && `${chunk}`.endsWith('[y/N] ')) stdin.write(`${await answer()}\n`);
      });
      if (answer) for (const stream of [stdin, stdout, stderr]) Object.assign(stream, { isTTY: true, columns: 100 });
      const code = await run(argv, {
        stdin,
        stdout,
        stderr,
        env: { GUILDHALL_API_KEY: key, GUILDHALL_BASE_URL: app().origin, ...env },
        cwd: path,
        platform: process.platform,
        homeFolder: path,
        ...(fetch && { fetch }),
        onInterrupt: () => () => undefined,
      });
      stdout.end();
      stderr.end();
      const [out = '', err = ''] = await Promise.all(texts);
      return { code, out, err };
    },
  };
}
