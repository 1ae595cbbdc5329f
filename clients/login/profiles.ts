import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConfigFolder, configFolder, type Surroundings } from './folder.ts';
import { LoginError } from './loginError.ts';

const FILE = 'config.json';
const VERSION = 1;
const LOCK_PAUSE_MS = 20;
const MAX_LOCK_MS = 2_000;

/** The profile that counts where none is named. */
export const DEFAULT_PROFILE = 'default';

/** A saved login. */
export interface Profile {
  apiKey: string;
  /** Origin of the service, perhaps with the API's prefix, as the user gave it. */
  baseUrl: string;
  workspacePublicId: string;
  apiKeyPublicId: string;
}

/** The saved logins by name. */
export type Profiles = Record<string, Profile>;

/** The path of the config file, for messages; undefined when there is no home folder. */
export function configFile(surroundings: Surroundings): string | undefined {
  const folder = configFolder(surroundings);
  return folder && join(folder.path, FILE);
}

/**
 * The saved logins; none when there is no file.
 * @throws LoginError `bad_config` (4) when the file cannot be read or is not what `saveProfile` writes, such as one that was cut off.
 */
export async function readProfiles(surroundings: Surroundings): Promise<Profiles> {
  const file = configFile(surroundings);
  if (!file) return {};
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new LoginError('bad_config', 4, `The config file ${file} cannot be read: ${code}.`, 'Mend its permissions.');
  }
  const profiles = parseProfiles(text);
  if (!profiles)
    throw new LoginError(
      'bad_config',
      4,
      `The config file ${file} is broken: it is not what guildhall writes.`,
      'Run `guildhall auth login --force` to write it anew. Its other profiles are lost then.',
    );
  return profiles;
}

function parseProfiles(text: string): Profiles | undefined {
  try {
    const { version, profiles } = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (version !== VERSION || typeof profiles !== 'object' || profiles === null) return undefined;
    const isWhole = (each: Partial<Profile> | null) =>
      typeof each?.apiKey === 'string' && typeof each.baseUrl === 'string' && URL.canParse(each.baseUrl);
    return Object.values<Partial<Profile> | null>(profiles).every(isWhole) ? { ...profiles } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Saves a login: the file is 0600 in a folder 0700, and is replaced as a whole, so that nobody reads half of it. Other profiles stay.
 * @throws LoginError `login_exists` (5) when the profile exists or the file is broken, unless `force`; `no_home` (2) without a folder.
 */
export async function saveProfile(
  surroundings: Surroundings,
  name: string,
  profile: Profile,
  { force }: { force: boolean },
): Promise<string> {
  const folder = await madeFolder(surroundings);
  return await locked(folder.path, async () => {
    const present = await readProfiles(surroundings).catch((error) => {
      if (force && error instanceof LoginError) return {};
      throw error;
    });
    if (Object.hasOwn(present, name) && !force) throw loginExists(name);
    return await write(folder.path, { ...present, [name]: profile });
  });
}

/** The refusal to overwrite a login. */
export function loginExists(name: string): LoginError {
  return new LoginError(
    'login_exists',
    5,
    `There is a login already, with the profile name ${name}.`,
    'Pass --force to replace it, or --profile NAME to keep both.',
  );
}

/** Removes a login. False when there is none of that name. The file goes with the last one. */
export async function removeProfile(surroundings: Surroundings, name: string): Promise<boolean> {
  const folder = configFolder(surroundings);
  if (!folder || !Object.hasOwn(await readProfiles(surroundings), name)) return false;
  return await locked(folder.path, async () => {
    const { [name]: removed, ...others } = await readProfiles(surroundings);
    if (!removed) return false;
    if (Object.keys(others).length > 0) await write(folder.path, others);
    else await rm(join(folder.path, FILE));
    return true;
  });
}

/** Whether people other than the user may read the config file. Windows says nothing of it in the mode. */
export async function isReadableByOthers(file: string, platform: NodeJS.Platform): Promise<boolean> {
  if (platform === 'win32') return false;
  return await stat(file).then(
    ({ mode }) => (mode & 0o077) !== 0,
    () => false,
  );
}

async function madeFolder(surroundings: Surroundings): Promise<ConfigFolder> {
  const folder = configFolder(surroundings);
  if (!folder)
    throw new LoginError(
      'no_home',
      2,
      'There is no home folder to save the login in.',
      'Set GUILDHALL_CONFIG_DIR to a folder, or pass the key with each command: GUILDHALL_API_KEY or --api-key-file.',
    );
  try {
    await mkdir(folder.path, { recursive: true, mode: 0o700 });
    // A folder that is there already keeps its mode, so the mode of ours is set. A folder that the user named may have other uses.
    if (!folder.named) await chmod(folder.path, 0o700);
  } catch (error) {
    throw cannotSave(folder.path, error);
  }
  return folder;
}

function cannotSave(path: string, error: unknown): LoginError {
  return new LoginError(
    'cannot_save',
    2,
    `The login cannot be saved in ${path}: ${(error as NodeJS.ErrnoException).code ?? error}.`,
    'Set GUILDHALL_CONFIG_DIR to a folder that you may write to.',
  );
}

async function write(folder: string, profiles: Profiles): Promise<string> {
  const file = join(folder, FILE);
  // People link the file into a folder that they keep under version control: the link stays, and what it leads to is replaced.
  const target = await realpath(file).catch(() => file);
  const fresh = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ version: VERSION, profiles }, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { force: true });
    throw cannotSave(folder, error);
  }
  return file;
}

/** Two logins at the same time each read, change and write the file: one after the other, so that none is lost. */
async function locked<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = join(folder, `${FILE}.lock`);
  const deadline = performance.now() + MAX_LOCK_MS;
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotSave(folder, error);
      // The work takes milliseconds. A lock that stays is that of a process that was killed.
      if (performance.now() > deadline) await rm(lock, { force: true });
      else await sleep(LOCK_PAUSE_MS);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}
