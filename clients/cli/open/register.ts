import { API_PREFIX } from '../../../generated/operations.ts';
import { addressFor, profileName } from '../../login/credential.ts';
import { type Profiles, readProfiles } from '../../login/profiles.ts';
import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { referenceFragment } from './address.ts';
import { openerOf, start } from './opener.ts';

/** `open`: the API reference of the service that is used, in the browser. */
export const register: Register = (command, context) => {
  command
    .argument('[words...]', 'a command, such as agents create, a group, or an operationId')
    .option('--print', 'print the address and open nothing')
    .addHelpText(
      'after',
      examples(['guildhall open', 'guildhall open agents create', 'guildhall open streamMessage --print']),
    )
    .action(async (words: string[], options: { print?: boolean }) => open(context(), words, options.print === true));
};

async function open(context: Context, words: string[], print: boolean): Promise<void> {
  const { io, flags, say, write } = context;
  const fragment = referenceFragment(words);
  const address = `${await serviceOf(context)}/docs${fragment === undefined ? '' : `#${fragment}`}`;
  if (flags.json) return await context.print({ url: address });
  const opener = print || !io.stdout.isTTY ? undefined : openerOf(io.platform, io.env, address);
  if (opener && (await start(opener, io.env))) return say(`Opened ${address}`);
  await write(`${address}\n`);
}

/** The address of the service that commands would call. The page needs no key, so a login is not needed either. */
async function serviceOf({ flags, io }: Context): Promise<string> {
  const surroundings = { env: io.env, homeFolder: io.homeFolder, cwd: io.cwd };
  const profiles = await readProfiles(surroundings).catch((): Profiles => ({}));
  const { baseUrl } = addressFor(flags, surroundings, profiles[profileName(flags, surroundings)]);
  const { origin, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, '');
  return origin + (path.endsWith(API_PREFIX) ? path.slice(0, -API_PREFIX.length) : path);
}
