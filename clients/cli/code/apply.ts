import { type ApplyResult, applySteps } from '../../code/apply.ts';
import { FileFaults, StateConflict } from '../../code/faults.ts';
import { hasWork, type Plan, planOf, secretFaults } from '../../code/plan.ts';
import { summaryOf } from '../../code/planText.ts';
import { demandProject } from '../../code/project.ts';
import { surveyOf } from '../../code/survey.ts';
import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { Failure, toFailure } from '../failure.ts';
import { planFor } from './planFor.ts';
import { asCommand, codesText, secretsOf, settingOf, withFolder } from './setting.ts';

interface ApplyFlags {
  folder: string;
  prune?: boolean;
  secrets?: boolean;
  plan?: string;
}

/** `guildhall apply`: plans, asks, and carries the plan out. */
export const register: Register = (command, context) => {
  withFolder(command)
    .option('--prune', 'delete what files described once and describe no more')
    .option('--secrets', 'send every secret again: nobody can see whether one has changed')
    .option('--plan <digest>', 'do only what the plan with this digest says')
    .addHelpText(
      'after',
      codesText({
        0: 'everything is as the files say',
        1: 'something could not be applied; the rest is',
        2: 'something is wrong in the files, or nobody could be asked (--yes)',
        4: 'no credential, or one that is refused',
        5: 'the workspace is not as planned, or the lock file cannot be used',
      }) +
        examples([
          'guildhall apply',
          'guildhall apply --yes --profile production',
          'guildhall apply --yes --plan 3f9a2c81d0b7e645',
        ]),
    )
    .action((options: ApplyFlags) => asCommand(() => run(context(), options)));
};

async function run(context: Context, options: ApplyFlags): Promise<void> {
  const setting = await settingOf(context, options.folder);
  await demandProject(setting.folder);
  const secret = secretsOf(context, setting);
  const choice = { prune: options.prune === true, resendSecrets: options.secrets === true };
  const prepare = async () => {
    const survey = await surveyOf(setting);
    return { survey, ...planOf(survey, choice) };
  };
  let { survey, plan, steps } = await prepare();
  if (options.plan !== undefined && options.plan !== plan.digest) throw otherPlan(options.plan, plan.digest);
  const faults = await secretFaults(steps, choice.resendSecrets, secret);
  if (faults.length > 0) throw new FileFaults(faults);
  await show(context, plan);
  if (hasWork(plan) && !context.flags.yes) {
    await context.confirm('Apply this plan?', '--yes');
    // Somebody may have changed the workspace or the files while the question stood.
    const { digest } = plan;
    ({ survey, plan, steps } = await prepare());
    if (plan.digest !== digest) throw otherPlan(digest, plan.digest);
  }
  const result = await applySteps(survey, steps, {
    ...choice,
    secret,
    progress: (text) => {
      if (!context.flags.json) context.say(text);
    },
  });
  await report(context, result, summaryOf(plan));
}

/** People read the plan on stdout; in a pipe that has the result alone. */
async function show(context: Context, plan: Plan): Promise<void> {
  if (context.isForPeople) await context.write(`${planFor(context.io, plan)}\n`);
  else if (!context.flags.json) context.say(summaryOf(plan));
}

function otherPlan(wanted: string, found: string): StateConflict {
  return new StateConflict(
    'plan_changed',
    `The plan is not ${wanted} any more: files or workspace have changed, and it is ${found} now. Nothing was changed.`,
    'Run guildhall plan again.',
  );
}

async function report(context: Context, result: ApplyResult, summary: string): Promise<void> {
  const { failures, ...counts } = result;
  const details = failures.map(({ kind, name, error }) => {
    const { code, message, status, requestId, details: places } = toFailure(error);
    return {
      path: `${kind} ${JSON.stringify(name)}`,
      message: withPlaces(message, places),
      code,
      status,
      requestId,
      details: places,
    };
  });
  if (failures.length > 0)
    throw new Failure(
      'apply_incomplete',
      1,
      `${failures.length} of the things could not be applied; the others are: ${countsText(result)}.`,
      { details, hint: 'Mend what is named above and apply again: what is done already is not done twice.' },
    );
  if (context.isForPeople) context.say(`Done: ${countsText(result)}.`);
  else await context.print({ ...counts, summary });
}

/** The message of the service with what it says about single fields. */
function withPlaces(message: string, places: unknown): string {
  const texts = (Array.isArray(places) ? places : []).map((place: Record<string, unknown>) => {
    const field = String(place.path ?? '').replace(/^\/body\/?/, '');
    return field === '' ? `${place.message}` : `${field} ${place.message}`;
  });
  return texts.length === 0 ? message : `${message} ${texts.join('; ')}`;
}

function countsText({ created, changed, published, deleted }: ApplyResult): string {
  return `${created} created, ${changed} changed, ${published} published, ${deleted} deleted`;
}
