import { pullWorkspace } from '../../code/pull.ts';
import type { Register } from '../commands.ts';
import { examples } from '../examples.ts';
import { asCommand, codesText, settingOf, withFolder } from './setting.ts';

/** `guildhall pull`: writes the workspace as files. */
export const register: Register = (command, context) => {
  withFolder(command)
    .option('--force', 'overwrite edits that were not applied')
    .option('--prune', 'remove the files of what is gone from the workspace')
    .addHelpText(
      'after',
      codesText({
        0: 'the files are as the workspace',
        2: 'something is wrong in the files',
        4: 'no credential, or one that is refused',
        5: 'files have edits that were not applied, or the lock file cannot be used; nothing was written',
      }) + examples(['guildhall pull', 'guildhall pull --folder agents-of-acme --profile production']),
    )
    .action((options: { folder: string; force?: boolean; prune?: boolean }) =>
      asCommand(async () => {
        const { say, print, isForPeople, ...rest } = context();
        const given = { ...rest, say, print, isForPeople };
        const setting = await settingOf(given, options.folder);
        const result = await pullWorkspace(setting, { force: options.force === true, prune: options.prune === true });
        for (const path of result.missing)
          say(`Warning: ${path} is not here as it was applied, and the service does not give its content back.`);
        for (const each of result.gone) say(`Warning: ${each} is gone from the workspace. --prune removes its file.`);
        if (!isForPeople) return await print(result);
        for (const path of result.written) say(`wrote ${path}`);
        for (const path of result.removed) say(`removed ${path}`);
        const changed = result.written.length + result.removed.length;
        say(
          changed === 0
            ? 'Nothing changed: the files are as the workspace.'
            : `${result.things} things are in the files.`,
        );
      }),
    );
};
