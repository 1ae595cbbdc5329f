import { Argument, type Command, Option } from 'commander';
import { readProfiles } from '../../../login/profiles.ts';
import type { Register } from '../../commands.ts';
import type { Context } from '../../context.ts';
import { examples } from '../../examples.ts';
import { usage } from '../../failure.ts';
import { plainLine } from '../plain.ts';
import { candidatesFor } from './candidates.ts';
import { completionScripts, type Shell } from './scripts.ts';

const SHELLS = Object.keys(completionScripts) as Shell[];

/** `completion SHELL` prints a script; the scripts call `completion --complete`. */
export const register: Register = (command, context, programFor) => {
  const shellName = new Argument('[shell]', 'bash, zsh or fish');
  // They are offered, and not demanded: with --complete any words follow.
  shellName.argChoices = SHELLS;
  command
    .addArgument(shellName)
    .addArgument(new Argument('[words...]', 'what is typed so far, for --complete'))
    .addOption(new Option('--complete', 'print what can stand at the cursor').hideHelp())
    .usage(`<${SHELLS.join('|')}>`)
    .addHelpText(
      'after',
      examples([
        'source <(guildhall completion bash)                                    in ~/.bashrc',
        'source <(guildhall completion zsh)                                     in ~/.zshrc, after compinit',
        'guildhall completion fish > ~/.config/fish/completions/guildhall.fish',
      ]),
    )
    .action(async (shell: string | undefined, words: string[], options: { complete?: boolean }) => {
      if (options.complete) {
        const line = [shell ?? '', ...words];
        return await complete(context(), line, await programFor(line.slice(0, -1)));
      }
      if (shell === undefined || !isShell(shell) || words.length > 0)
        throw usage(`It takes the name of one shell: ${SHELLS.join(', ')}.`);
      await context().write(completionScripts[shell]);
    });
};

function isShell(name: string): name is Shell {
  return Object.hasOwn(completionScripts, name);
}

/** Prints what can stand at the cursor. The scripts drop what goes to stderr. */
async function complete({ io, write }: Context, words: string[], program: Command): Promise<void> {
  const surroundings = { env: io.env, homeFolder: io.homeFolder, cwd: io.cwd };
  const { values, files } = await candidatesFor(program, words, {
    profiles: async () => Object.keys(await readProfiles(surroundings).catch(() => ({}))),
  });
  const lines = values.map(([value, description]) => `${value}\t${plainLine(description)}`);
  await write([...lines, ...(files ? [':files'] : []), ''].join('\n'));
}
