import { CommandError } from './command.ts';

/**
 * What `read` finds in the environment. It throws an Error with a sentence that names the setting which is not valid; here that is a
 * CommandError, since a stack trace would only hide the sentence.
 */
export function fromEnv<T>(env: NodeJS.ProcessEnv, read: (env: NodeJS.ProcessEnv) => T): T {
  try {
    return read(env);
  } catch (error) {
    throw new CommandError(Error.isError(error) ? error.message : String(error));
  }
}
