import { isPending, planOf } from '../../code/plan.ts';
import { demandProject } from '../../code/project.ts';
import { surveyOf } from '../../code/survey.ts';
import type { Register } from '../commands.ts';
import { examples } from '../examples.ts';
import { planFor } from './planFor.ts';
import { asCommand, codesText, settingOf, withFolder } from './setting.ts';

/** `guildhall plan`: reads and compares, and changes nothing. */
export const register: Register = (command, context) => {
  withFolder(command)
    .option('--prune', 'plan to delete what files described once and describe no more')
    .option('--secrets', 'plan to send every secret again')
    .option('--exit-code', 'exit with 6 when changes are pending')
    .addHelpText(
      'after',
      codesText({
        0: 'done; with --exit-code: nothing is pending',
        2: 'something is wrong in the files',
        4: 'no credential, or one that is refused',
        5: 'the lock file cannot be used',
        6: 'changes are pending (with --exit-code only)',
      }) +
        examples([
          'guildhall plan',
          'guildhall plan --profile production --exit-code',
          "guildhall plan --json | jq -r '.steps[].name'",
        ]),
    )
    .action((options: { folder: string; prune?: boolean; secrets?: boolean; exitCode?: boolean }) =>
      asCommand(async () => {
        const given = context();
        const setting = await settingOf(given, options.folder);
        await demandProject(setting.folder);
        const survey = await surveyOf(setting);
        const { plan } = planOf(survey, {
          prune: options.prune === true,
          resendSecrets: options.secrets === true,
        });
        if (given.isForPeople) await given.write(`${planFor(given.io, plan)}\n`);
        else await given.print({ ...plan, pending: isPending(plan) });
        if (options.exitCode && isPending(plan)) given.setExitCode(6);
      }),
    );
};
