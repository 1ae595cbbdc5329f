import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresAccount } from '../../../db/embedded/account.ts';
import { freePort } from '../freePort.ts';
import { memoryFolder } from '../run/memoryFolder.ts';

const OPERATING = join(import.meta.dirname, '../../../docs/operating.md');
/** The first version that keeps prepared statements. */
const KEEPS_STATEMENTS = 1.21;

/** A running PgBouncer. */
export interface RunningPgBouncer {
  /** The database's address through it. */
  url: string;
  /** Whether it keeps prepared statements. */
  keepsStatements: boolean;
  stop(): Promise<void>;
}

/** The path of an installed PgBouncer; undefined where there is none. */
export function installedPgBouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].filter(Boolean);
  return folders
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Starts it in front of the database of `url`, with the configuration that docs/operating.md shows. */
export async function startPgBouncer(path: string, url: string): Promise<RunningPgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const database = pathname.slice(1);
  const version = Number(/(\d+\.\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1]);
  const keepsStatements = version >= KEEPS_STATEMENTS;
  const documented = /```ini\n([^`]+)```/.exec(await readFile(OPERATING, 'utf8'))?.[1] ?? '';
  const [databases = '', settings = ''] = documented.split('[pgbouncer]\n');
  if (!databases.includes('host=10.0.0.5 dbname=guildhall'))
    throw new Error('docs/operating.md shows no configuration of PgBouncer');
  const target = `host=${hostname} port=${port} dbname=${database} user=${username} password=${password}`;
  const listenPort = await freePort();
  const folder = await mkdtemp(join(await memoryFolder(), 'guildhall-pgbouncer-'));
  await chmod(folder, 0o755);
  const config = join(folder, 'pgbouncer.ini');
  await writeFile(
    config,
    [
      databases.replace('guildhall = host=10.0.0.5 dbname=guildhall', `${database} = ${target}`),
      '[pgbouncer]',
      keepsStatements ? settings : settings.replace(/^max_prepared_statements.*\n/m, ''),
      `listen_addr = 127.0.0.1\nlisten_port = ${listenPort}\nunix_socket_dir =\nauth_type = any\nmax_client_conn = 500\n`,
    ].join('\n'),
  );
  const child = spawn(path, ['-q', config], { stdio: ['ignore', 'ignore', 'pipe'], ...(await postgresAccount()) });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const ended = once(child, 'close');
  while (!(await answers(listenPort))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${told}`);
    await sleep(20);
  }
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(listenPort);
  return {
    url: through.href,
    keepsStatements,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
