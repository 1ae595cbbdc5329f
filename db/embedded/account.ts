import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** How a PostgreSQL program is started: the command in front of it, and the user where Node itself must change it. */
export type Launch = { command: string[]; uid?: number; gid?: number };

/** The operating system user that runs PostgreSQL. */
export type Account = { uid: number; gid: number };

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/usr/local/bin/setpriv'];
const CAPABILITIES = { dac_override: 1n << 1n, dac_read_search: 1n << 2n } as const;

/**
 * The user for PostgreSQL, which refuses to run as root: undefined (stay as we are) unless this process is root, else the owner of the
 * existing cluster, the user `postgres`, or `nobody`.
 * @param clusterFolder the folder of an existing cluster
 */
export async function postgresAccount(clusterFolder?: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  if (clusterFolder) {
    const owner = await stat(clusterFolder);
    if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const users = new Map(
    (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => {
      const [name = '', , uid, gid] = line.split(':');
      return [name, { uid: Number(uid), gid: Number(gid) }];
    }),
  );
  const account = users.get('postgres') ?? users.get('nobody');
  if (!account)
    throw new Error('PostgreSQL does not run as root, and this machine has neither a user `postgres` nor `nobody`');
  return account;
}

/**
 * How to start a program as `account` so that PostgreSQL gets SIGINT (fast shutdown) when this process dies, even by SIGKILL.
 * Where `setpriv` is missing it is started plainly, and an orphan waits for the next start.
 * A folder on the way to `paths` that the account may not enter is entered with root's right to do so.
 */
export async function launchAs(account: Account | undefined, paths: string[]): Promise<Launch> {
  const setpriv = process.platform === 'linux' ? SETPRIV.find((path) => existsSync(path)) : undefined;
  const command = setpriv ? [setpriv, '--pdeathsig', 'INT'] : [];
  if (!account) return { command: setpriv ? [...command, '--'] : [] };
  const closed = await firstClosedFolder(paths, account);
  if (!setpriv) {
    if (closed) throw closedFolderError(closed, account);
    return { command: [], ...account };
  }
  command.push('--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups');
  if (closed) {
    const capability = await usableCapability();
    if (!capability) throw closedFolderError(closed, account);
    // access(2), by which PostgreSQL looks for its own programs, ignores capabilities without this bit. What else setuid would have
    // dropped is dropped by the exec that follows.
    command.push(
      '--securebits',
      '+no_setuid_fixup',
      '--inh-caps',
      `+${capability}`,
      '--ambient-caps',
      `+${capability}`,
    );
  }
  return { command: [...command, '--'] };
}

function closedFolderError(folder: string, account: Account): Error {
  return new Error(
    `The embedded PostgreSQL runs as user ${account.uid} (it refuses root), who may not enter ${folder}. ` +
      'Set GUILDHALL_DATA_DIR to a folder that every user can reach, run the service as another user than root, or set DATABASE_URL.',
  );
}

/** Judged by mode bits; an access list that says otherwise costs a needless capability or the clear error above. */
async function firstClosedFolder(paths: string[], account: Account): Promise<string | undefined> {
  for (const path of paths) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const { mode, uid, gid } = await stat(folder);
      const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return folder;
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}

/** The weakest capability that opens closed folders and that this process can hand on. */
async function usableCapability(): Promise<string | undefined> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const set = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0'}`);
  const usable = set('CapPrm') & set('CapBnd');
  if (usable & CAPABILITIES.dac_read_search) return 'dac_read_search';
  if (usable & CAPABILITIES.dac_override) return 'dac_override';
  return undefined;
}
