import { invalid } from '../../core/errors.ts';
import { addClient } from '../../domain/clients/addClient.ts';
import { emailKey, isEmailAddress, isOneLine } from '../../domain/clients/emails.ts';
import type { components } from '../../generated/api.ts';
import type { Handler } from '../handler.ts';
import { clientBody } from './clientBody.ts';

type ClientCreate = components['schemas']['ClientCreate'];

export const createClient: Handler<'createClient'> = async (context) => {
  const { body, clock } = context;
  check(body, clock.now());
  const { workspaceName: name, users, planPublicId, inviteToTrial = false, sendInvitations = false } = body;
  const { creditsOverride, periodEndOverride } = body;
  const { id } = await addClient(context, {
    name,
    users,
    plan: inviteToTrial ? 'trial' : planPublicId == null ? null : { id: planPublicId },
    sendInvitations,
    credits: creditsOverride ?? undefined,
    periodEnd: periodEndOverride == null ? undefined : new Date(periodEndOverride),
  });
  return context.reply(201, await clientBody(context, id));
};

/** The rules that the schema cannot state. Throws VALIDATION_ERROR. */
function check(body: ClientCreate, now: Date): void {
  const { workspaceName, users, periodEndOverride, creditsOverride } = body;
  if (!isOneLine(workspaceName)) throw invalid('/body/workspaceName', 'The name must have no control characters.');
  const seen = new Set<string>();
  users.forEach(({ name, email }, index) => {
    const path = `/body/users/${index}`;
    if (!isOneLine(name)) throw invalid(`${path}/name`, 'The name must have no control characters.');
    if (!isEmailAddress(email)) throw invalid(`${path}/email`, 'This is not an email address.', 'format');
    if (seen.has(emailKey(email))) throw invalid(`${path}/email`, 'Another user has this email address.');
    seen.add(emailKey(email));
  });
  const hasPlan = body.inviteToTrial === true || body.planPublicId != null;
  if (periodEndOverride != null) {
    if (!hasPlan) throw invalid('/body/periodEndOverride', 'Without a plan there is no period.');
    // A leap second is a valid date-time, and no moment that is known here.
    if (!(new Date(periodEndOverride) > now)) throw invalid('/body/periodEndOverride', 'It must be in the future.');
  }
  if (creditsOverride != null && !hasPlan)
    throw invalid('/body/creditsOverride', 'Without a plan there are no credits.');
}
