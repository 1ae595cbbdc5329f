import { profileName } from '../../login/credential.ts';
import { configFile, readProfiles, removeProfile } from '../../login/profiles.ts';
import type { Register } from '../commands.ts';
import { examples } from '../examples.ts';
import { Failure } from '../failure.ts';

/** `guildhall auth logout`: the login is removed from this machine. The key stays valid until it is revoked. */
export const register: Register = (command, context) => {
  command
    .addHelpText('after', examples(['guildhall auth logout', 'guildhall auth logout --profile staging']))
    .action(async () => {
      const { flags, io, print, say, surroundings } = context();
      const name = profileName(flags, surroundings);
      if (!(await removeProfile(surroundings, name))) {
        const others = Object.keys(await readProfiles(surroundings));
        throw new Failure('no_credential', 4, `There is no login with the profile name ${name}.`, {
          hint: others.length > 0 ? `Profiles: ${others.join(', ')}.` : undefined,
        });
      }
      say(
        `Logged out: the profile ${name} is gone from ${configFile(surroundings)}. Its key is valid until it is revoked.`,
      );
      if (io.env.GUILDHALL_API_KEY) say('Note: GUILDHALL_API_KEY is still set.');
      await print({ profile: name, loggedOut: true });
    });
};
