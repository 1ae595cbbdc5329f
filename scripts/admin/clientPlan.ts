import { findClientAnywhere } from '../../db/queries/clients/clientsAnywhere.ts';
import { changeClientPlan } from '../../domain/payments/changeClientPlan.ts';
import { hubDomainOf, readConfig } from '../../server/config.ts';
import { type Command, CommandError, refusing, UsageError, uuid } from './command.ts';
import { fromEnv } from './fromEnv.ts';
import { originOf } from './origin.ts';

/** Changes the plan of a client: an upgrade now, anything else at the period's end, unless an option says when. */
export const changePlanCommand: Command = {
  usage: '--client ID --plan ID [--now|--at-period-end]',
  words: 0,
  options: {
    client: { type: 'string' },
    plan: { type: 'string' },
    now: { type: 'boolean' },
    'at-period-end': { type: 'boolean' },
  },
  prepare(_words, options) {
    const clientId = uuid(options.client, '--client');
    const planId = uuid(options.plan, '--plan');
    const isNow = options.now === true;
    const isLater = options['at-period-end'] === true;
    if (isNow && isLater) throw new UsageError('Give one of --now and --at-period-end');
    const given = isNow ? 'now' : isLater ? 'period_end' : undefined;
    return async ({ system, forWorkspace }, env) => {
      const row = await findClientAnywhere(system, clientId);
      if (!row) throw new CommandError(`There is no client ${clientId}`);
      const { workspace_id: workspaceId } = row;
      const context = {
        db: forWorkspace(workspaceId),
        workspaceId,
        clock: { now: () => new Date() },
        runtime: { payments: fromEnv(env, readConfig).payments, publicUrl: originOf(env), hubDomain: hubDomainOf(env) },
      };
      const { client } = await refusing(changeClientPlan(context, { clientId, planId, at: given }));
      const { plan_id: present, pending_plan_id: pending, pending_plan_at: at } = client;
      const then = pending === null ? '' : `, and changes to plan ${pending} at ${at?.toISOString()}`;
      return {
        json: {
          clientPublicId: clientId,
          subscriptionStatus: client.status,
          planPublicId: present,
          pendingPlanPublicId: pending,
          pendingPlanEffectiveAt: at,
          currentPeriodEnd: client.period_end,
        },
        text: `client ${clientId} is ${client.status} on plan ${present}${then}`,
      };
    };
  },
};
