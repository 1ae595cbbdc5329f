// Longer than most: each guarantee needs real processes, and the helpers that start and kill them are in this file.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { postgresAccount } from '../../db/embedded/account.ts';
import { findBinaries } from '../../db/embedded/cluster.ts';
import { attachEmbedded, startEmbedded } from '../../db/embedded.ts';
import { until } from '../support/poll.ts';
import { memoryFolder } from '../support/run/memoryFolder.ts';

type Service = { child: ChildProcess; url: string; port: number; ended: Promise<unknown> };

const started: ChildProcess[] = [];
let prepared: string;
let parent: string;
let dataDir: string;

beforeAll(async () => {
  prepared = await mkdtemp(join(await memoryFolder(), 'guildhall-embedded-'));
  await chmod(prepared, 0o755);
  const postgres = await startEmbedded({ dataDir: join(prepared, 'data') });
  await postgres.stop();
});

// Each test gets a copy of the data folder of a stopped service: a copy is faster than a new cluster.
beforeEach(async () => {
  parent = await mkdtemp(join(await memoryFolder(), 'guildhall-embedded-'));
  await chmod(parent, 0o755);
  dataDir = join(parent, 'data');
  execFileSync('cp', ['-a', join(prepared, 'data'), dataDir]);
});

afterAll(() => rm(prepared, { recursive: true, force: true }));

/** Removes the prepared data folder, for tests of a first start. */
async function emptyDataFolder(): Promise<void> {
  await rm(dataDir, { recursive: true });
}

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  const pid = await postmasterPid();
  if (pid) await gone(pid);
  await rm(parent, { recursive: true, force: true });
});

function launch(waitMs = 3000): ChildProcess {
  const script = join(import.meta.dirname, 'embeddedService.ts');
  const child = spawn(process.execPath, [script, dataDir, String(waitMs)], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  return child;
}

/** Starts a service; rejects with what it wrote to stderr when it ends instead. */
async function start(waitMs?: number): Promise<Service> {
  const child = launch(waitMs);
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  const ended = once(child, 'close');
  const line = child.stdout && once(createInterface({ input: child.stdout }), 'line');
  const first = await Promise.race([line, ended.then(() => undefined)]);
  if (!first) throw new Error(errors);
  return { child, ended, ...JSON.parse(String(first[0])) };
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const pgdata = () => join(dataDir, 'postgres', 'pgdata');

async function postmasterPid(): Promise<number | undefined> {
  const text = await readFile(join(pgdata(), 'postmaster.pid'), 'utf8').catch(() => '');
  return Number.parseInt(text, 10) || undefined;
}

async function gone(pid: number): Promise<void> {
  await until(async () => {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    return state === '' || / Z /.test(state);
  });
}

async function remember(url: string): Promise<void> {
  await query(url, 'create table if not exists kept (n int)');
  await query(url, 'insert into kept values (1)');
}

async function remembered(url: string): Promise<number> {
  return (await query(url, 'select from kept')).length;
}

describe('a service that is killed', () => {
  test('ends its PostgreSQL too, and the next start has the data', async () => {
    const first = await start();
    await remember(first.url);
    const pid = (await postmasterPid()) ?? 0;
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await start();
    expect(await remembered(second.url)).toBe(1);
    await gone(pid);
  });

  test('loses no data, however often it is killed', async () => {
    for (let round = 0; round < 4; round += 1) {
      const service = await start();
      await remember(service.url);
      expect(await remembered(service.url)).toBe(round + 1);
      service.child.kill('SIGKILL');
      await service.ended;
    }
  });

  test('leaves PostgreSQL running where the system cannot end it with the service: the next start ends it and takes over', async () => {
    const first = await start();
    await remember(first.url);
    first.child.kill('SIGTERM');
    await first.ended;
    const { postgres } = await findBinaries();
    const account = await postgresAccount(pgdata());
    const settings = [
      '-D',
      pgdata(),
      '-c',
      `port=${first.port}`,
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
    ];
    const orphan = spawn(postgres, settings, { ...account, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    started.push(orphan);
    const lines = createInterface({ input: orphan.stderr });
    for await (const line of lines) if (line.includes('ready to accept connections')) break;
    orphan.stderr.resume();
    const ended = once(orphan, 'exit');
    const second = await start();
    expect(await remembered(second.url)).toBe(1);
    expect((await ended)[0]).toBe(0);
    expect(await postmasterPid()).not.toBe(orphan.pid);
  });

  test('leaves a pid file whose pid another program has now: the next start succeeds and does not touch that program', async () => {
    const first = await start();
    await remember(first.url);
    const pidFile = join(pgdata(), 'postmaster.pid');
    const text = await readFile(pidFile, 'utf8');
    first.child.kill('SIGTERM');
    await first.ended;
    const account = await postgresAccount(pgdata());
    const other = spawn('sleep', ['60'], { ...account, cwd: '/', stdio: 'ignore' });
    started.push(other);
    await writeFile(pidFile, text.replace(/^\d+/, String(other.pid)));
    const second = await start();
    expect(await remembered(second.url)).toBe(1);
    expect(other.exitCode ?? other.signalCode).toBeNull();
  });

  test('while it makes the cluster does not prevent the next start', async () => {
    await emptyDataFolder();
    await mkdir(dataDir, { mode: 0o711 });
    const abort = new AbortController();
    const begun = new Promise<void>((resolve) => {
      watch(dataDir, { signal: abort.signal }, (_event, name) => {
        if (name?.startsWith('.postgres-')) resolve();
      });
    });
    const first = launch();
    await begun;
    abort.abort();
    first.kill('SIGKILL');
    await once(first, 'close');
    expect((await readdir(dataDir)).some((name) => name.startsWith('.postgres-'))).toBe(true);
    const second = await start();
    await remember(second.url);
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'service.lock']);
  });
});

describe('a PostgreSQL that is killed', () => {
  /** Kills the postmaster; returns its process id. */
  async function kill(): Promise<number> {
    const pid = (await postmasterPid()) ?? 0;
    process.kill(pid, 'SIGKILL');
    return pid;
  }
  const untilBack = (url: string) => until(() => remembered(url).catch(() => undefined));

  test('is started again at the same address, with what it has stored, as often as it takes', async () => {
    const service = await start();
    await remember(service.url);
    for (let round = 0; round < 2; round += 1) {
      const pid = await kill();
      expect(await untilBack(service.url)).toBe(1);
      expect(await postmasterPid()).not.toBe(pid);
    }
    expect(service.child.exitCode).toBeNull();
    // Commands and a second service find it as before.
    const attached = await attachEmbedded(dataDir);
    expect(attached.url()).toBe(service.url);
    await attached.stop();
    await expect(start(0)).rejects.toThrow('Another Guildhall process uses the data folder');
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual([0, null]);
    expect(await postmasterPid()).toBeUndefined();
  });

  test('while the service stops stays down, and the data folder is free', async () => {
    const first = await start();
    await remember(first.url);
    await kill();
    first.child.kill('SIGTERM');
    expect(await first.ended).toEqual([0, null]);
    const second = await start(0);
    expect(await remembered(second.url)).toBe(1);
  });

  test('and cannot be started again is reported to the service', async () => {
    const first = await start();
    await remember(first.url);
    const settings = join(pgdata(), 'postgresql.conf');
    const text = await readFile(settings, 'utf8');
    await writeFile(settings, 'nonsense');
    await kill();
    await first.ended;
    expect(first.child.exitCode).toBe(3);
    await writeFile(settings, text);
    const second = await start();
    expect(await remembered(second.url)).toBe(1);
  });
});

describe('one data folder', () => {
  test('is refused to a second service, without effect on the first', async () => {
    const first = await start();
    await remember(first.url);
    await expect(start(100)).rejects.toThrow(
      /Another Guildhall process uses the data folder .* set GUILDHALL_DATA_DIR/,
    );
    expect(await remembered(first.url)).toBe(1);
    expect(first.child.exitCode).toBeNull();
  });

  test('is taken by exactly one of two services that start at the same time on an empty folder', async () => {
    await emptyDataFolder();
    const results = await Promise.allSettled([start(0), start(0)]);
    const [winner] = results.filter((result) => result.status === 'fulfilled');
    const [loser] = results.filter((result) => result.status === 'rejected');
    expect(String(loser?.reason)).toContain('Another Guildhall process');
    await remember(winner?.value.url ?? '');
  });

  test('passes to a waiting service when the first stops', async () => {
    const first = await start();
    await remember(first.url);
    const second = start(10_000);
    first.child.kill('SIGTERM');
    await first.ended;
    expect(await remembered((await second).url)).toBe(1);
  });

  test('that has other files is not touched', async () => {
    await emptyDataFolder();
    await mkdir(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres', 'mine.txt'), 'x');
    await expect(start()).rejects.toThrow('holds no PostgreSQL cluster');
    expect(await readdir(join(dataDir, 'postgres'))).toEqual(['mine.txt']);
  });
});

describe('SIGTERM', () => {
  test('stops PostgreSQL cleanly before the service ends', async () => {
    const service = await start();
    const pid = (await postmasterPid()) ?? 0;
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual([0, null]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await postmasterPid()).toBeUndefined();
  });
});

describe('what it starts', () => {
  test('has settings that survive a power cut, uses UTF-8, and requires the password', async () => {
    await emptyDataFolder();
    const postgres = await startEmbedded({ dataDir });
    try {
      const show = async (name: string) =>
        (await query<Record<string, string>>(postgres.adminUrl, `show ${name}`))[0]?.[name];
      expect(await show('fsync')).toBe('on');
      expect(await show('synchronous_commit')).toBe('on');
      expect(await show('full_page_writes')).toBe('on');
      expect(await show('data_checksums')).toBe('on');
      expect(await show('server_encoding')).toBe('UTF8');
      expect(await show('listen_addresses')).toBe('127.0.0.1');
      expect(await show('unix_socket_directories')).toBe('');
      expect(await query(postgres.url(), "select lower('ÅÉ') as low")).toEqual([{ low: 'åé' }]);
      expect(await query(postgres.url(), 'select usesuper from pg_user where usename = current_user')).toEqual([
        { usesuper: false },
      ]);
      for (const user of ['postgres', 'guildhall']) {
        const guess = `postgres://${user}:guess@127.0.0.1:${postgres.port}/postgres`;
        await expect(query(guess, 'select 1')).rejects.toMatchObject({ code: '28P01' });
      }
      expect((await stat(join(dataDir, 'postgres', 'password'))).mode & 0o777).toBe(0o600);
      expect((await stat(join(dataDir, 'postgres'))).mode & 0o077).toBe(0);
    } finally {
      await postgres.stop();
    }
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('works below a folder that only root may enter', async () => {
    await emptyDataFolder();
    await chmod(parent, 0o700);
    const first = await start();
    await remember(first.url);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await remembered((await start()).url)).toBe(1);
  });
});

describe('a command next to the service', () => {
  test('uses the PostgreSQL of the running service, and leaves it running', async () => {
    const service = await start();
    await remember(service.url);
    const attached = await attachEmbedded(dataDir);
    expect(attached.url()).toBe(service.url);
    await attached.stop();
    expect(await remembered(service.url)).toBe(1);
  });

  test('starts PostgreSQL when no service runs, and stops it afterwards', async () => {
    const attached = await attachEmbedded(dataDir);
    await remember(attached.url());
    await attached.stop();
    expect(await postmasterPid()).toBeUndefined();
    const again = await attachEmbedded(dataDir);
    expect(await remembered(again.url())).toBe(1);
    await again.stop();
  });

  test('shares that PostgreSQL with a second command, which can finish its work', async () => {
    const one = await attachEmbedded(dataDir);
    const two = await attachEmbedded(dataDir);
    const client = new pg.Client({ connectionString: two.url() });
    await client.connect();
    const stopped = one.stop();
    const { rows } = await client.query('select 1 as n, pg_sleep(0.2)');
    expect(rows[0]).toMatchObject({ n: 1 });
    await client.end();
    await two.stop();
    await stopped;
    expect(await postmasterPid()).toBeUndefined();
  });
});
