import { isAbsolute, join } from 'node:path';
import { DEFAULT_ORIGIN } from '../../generated/calls.ts';
import type { Surroundings } from './folder.ts';
import { keyInText } from './key.ts';
import { LoginError } from './loginError.ts';
import { configFile, DEFAULT_PROFILE, type Profile, readProfiles } from './profiles.ts';
import { readSmallText } from './text.ts';

/** A key has 44 characters. */
const MAX_KEY_FILE_BYTES = 4096;

/** What the user passed on the command line. */
export interface LoginChoice {
  apiKey?: string | undefined;
  apiKeyFile?: string | undefined;
  baseUrl?: string | undefined;
  profile?: string | undefined;
}

/** A key, the service that it is for, and where both came from. */
export interface Credential {
  apiKey: string;
  baseUrl: string;
  /** Where the key came from, for people: `--api-key`, `GUILDHALL_API_KEY`, or the path of a file. */
  source: string;
  /** Where the address came from, in the same words. */
  baseUrlSource: string;
  /** The profile's name when the key is that of a saved login. */
  profile?: string;
  /** What the service told when the login was saved. */
  saved?: Profile;
}

/**
 * The credential that counts: `--api-key`, then `--api-key-file`, then `GUILDHALL_API_KEY`, then the saved login. The address is
 * `--base-url`, then `GUILDHALL_BASE_URL`, then that of the saved login, then the document's server.
 * @throws LoginError `no_credential`, `bad_config`, `bad_key` (4); `other_address` (5) when a saved key would be sent to an origin that it was
 * not saved for; `bad_address`, `unknown_profile` (2).
 */
export async function findCredential(choice: LoginChoice, surroundings: Surroundings): Promise<Credential> {
  const given = (await keyFromFlags(choice, surroundings)) ?? keyFromVariable(surroundings);
  const name = profileName(choice, surroundings);
  const isAddressGiven = givenAddress(choice, surroundings) !== undefined;
  // With key and address given, a broken config file is of no interest.
  const saved =
    given && isAddressGiven ? undefined : await savedProfile(name, choice, surroundings, given !== undefined);
  const file = configFile(surroundings);
  const { baseUrl, source: baseUrlSource } = addressFor(choice, surroundings, saved);
  if (given) return { apiKey: given.key, baseUrl, source: given.source, baseUrlSource };
  if (!saved || !file) throw noCredential(name);
  if (new URL(saved.baseUrl).origin !== new URL(baseUrl).origin)
    throw new LoginError(
      'other_address',
      5,
      `The saved login is for ${saved.baseUrl}, but ${baseUrlSource} says ${baseUrl}. Its key is not sent there.`,
      'Log in to that address with a profile of its own (guildhall auth login --profile NAME --base-url URL), or pass its key.',
    );
  return { apiKey: usableKey(saved.apiKey, file), baseUrl, source: file, baseUrlSource, profile: name, saved };
}

/** The address that counts when `saved` is the profile, and where it came from. */
export function addressFor(
  choice: LoginChoice,
  surroundings: Surroundings,
  saved: Profile | undefined,
): { baseUrl: string; source: string } {
  const given = givenAddress(choice, surroundings);
  if (given) return given;
  const file = configFile(surroundings);
  return saved && file
    ? { baseUrl: saved.baseUrl, source: file }
    : { baseUrl: DEFAULT_ORIGIN, source: "the API document's server" };
}

/** The name of the profile that counts: `--profile`, then `GUILDHALL_PROFILE`, then `default`. */
export function profileName({ profile }: LoginChoice, { env }: Surroundings): string {
  const name = profile ?? (env.GUILDHALL_PROFILE || DEFAULT_PROFILE);
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return name;
  throw new LoginError(
    'bad_profile',
    2,
    `${JSON.stringify(name)} cannot be the name of a profile.`,
    'A name has at most 64 letters, digits, dots, hyphens and underscores, and begins with a letter or digit.',
  );
}

/** The address that the user gave, checked; undefined when there is none. `http` or `https`, without user name and password. */
function givenAddress(
  { baseUrl }: LoginChoice,
  { env }: Surroundings,
): { baseUrl: string; source: string } | undefined {
  const source = baseUrl !== undefined ? '--base-url' : 'GUILDHALL_BASE_URL';
  const text = baseUrl ?? env.GUILDHALL_BASE_URL?.trim();
  if (baseUrl === undefined && !text) return undefined;
  const url = URL.canParse(text ?? '') ? new URL(text ?? '') : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new LoginError(
      'bad_address',
      2,
      `${source} is not the address of a service: ${JSON.stringify(text)}.`,
      'Give it as https://api.example.com, without user name, query and fragment.',
    );
  return { baseUrl: url.href.replace(/\/+$/, ''), source };
}

/** The key that `--api-key` or `--api-key-file` gives, and where it came from; undefined when there is neither. `-` is the input. */
export async function keyFromFlags(
  { apiKey, apiKeyFile }: LoginChoice,
  { cwd, readInput }: Surroundings,
): Promise<{ key: string; source: string } | undefined> {
  if (apiKey !== undefined) return { key: usableKey(apiKey, '--api-key'), source: '--api-key' };
  if (apiKeyFile === undefined) return undefined;
  if (apiKeyFile === '-' && readInput) return { key: usableKey(await readInput(), 'The input'), source: 'the input' };
  const file = isAbsolute(apiKeyFile) ? apiKeyFile : join(cwd, apiKeyFile);
  const text = await readSmallText(file, MAX_KEY_FILE_BYTES).catch((error: NodeJS.ErrnoException) => {
    throw new LoginError('bad_key', 4, `The key file ${file} cannot be read: ${error.code}.`);
  });
  return { key: usableKey(text ?? '', file), source: file };
}

function keyFromVariable({ env }: Surroundings): { key: string; source: string } | undefined {
  const text = env.GUILDHALL_API_KEY;
  return text ? { key: usableKey(text, 'GUILDHALL_API_KEY'), source: 'GUILDHALL_API_KEY' } : undefined;
}

/**
 * The key in a text, when it looks like one at all. The service checks it further: the rest of a key's form may change with the service,
 * but a secret of something else must not be sent to it.
 */
function usableKey(text: string, source: string): string {
  const key = keyInText(text);
  if (key && /^gsk_[!-~]+$/.test(key)) return key;
  throw new LoginError(
    'bad_key',
    4,
    key ? `What ${source} has is no API key: keys begin with gsk_.` : `${source} has no API key, or more than a key.`,
    'Copy the key from where it was created. It is shown once, and begins with gsk_.',
  );
}

async function savedProfile(
  name: string,
  { profile }: LoginChoice,
  surroundings: Surroundings,
  hasKey: boolean,
): Promise<Profile | undefined> {
  const profiles = await readProfiles(surroundings);
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!found && profile !== undefined && hasKey)
    throw new LoginError('unknown_profile', 2, `There is no profile ${name}.`, listed(Object.keys(profiles)));
  return found;
}

function listed(names: string[]): string {
  return names.length > 0
    ? `Profiles: ${names.join(', ')}.`
    : 'No login is saved: guildhall auth login --profile NAME.';
}

function noCredential(name: string): LoginError {
  return new LoginError(
    'no_credential',
    4,
    name === DEFAULT_PROFILE ? 'You are not logged in.' : `You are not logged in with the profile ${name}.`,
    `Run guildhall auth login${name === DEFAULT_PROFILE ? '' : ` --profile ${name}`}, or set GUILDHALL_API_KEY, or pass --api-key-file.`,
  );
}
