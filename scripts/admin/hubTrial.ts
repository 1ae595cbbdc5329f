import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { setTrial } from '../../domain/clients/trial.ts';
import { type Command, CommandError, refusing, requiredNumber, UsageError, uuid } from './command.ts';

const MAX_TRIAL_DAYS = 365;

/** `hub trial set|off`: what the hub lets people try. */
export const hubTrial: Command = {
  usage: 'set|off --workspace ID [--plan ID --days N]',
  words: 1,
  options: { workspace: { type: 'string' }, plan: { type: 'string' }, days: { type: 'string' } },
  prepare([verb], options) {
    const workspaceId = uuid(options.workspace, '--workspace');
    if (verb !== 'set' && verb !== 'off') throw new UsageError('hub trial needs set or off');
    if (verb === 'off' && (options.plan !== undefined || options.days !== undefined))
      throw new UsageError('hub trial off takes neither --plan nor --days');
    const offer =
      verb === 'off'
        ? null
        : {
            planId: uuid(options.plan, '--plan'),
            days: requiredNumber(options.days, '--days', { min: 1, max: MAX_TRIAL_DAYS, integer: true }),
          };
    return async (database) => {
      if (!(await findWorkspace(database.system, workspaceId)))
        throw new CommandError(`There is no workspace ${workspaceId}`);
      await refusing(setTrial(database.forWorkspace(workspaceId), workspaceId, offer, new Date()));
      return {
        json: {
          workspacePublicId: workspaceId,
          trialPlanPublicId: offer?.planId ?? null,
          trialDays: offer?.days ?? null,
        },
        text: offer ? `the hub offers ${offer.days} days on plan ${offer.planId}` : 'the hub offers no trial',
      };
    };
  },
};
