import type { Insertable } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import type { Clients } from '../../../generated/db.ts';
import { makeAgent } from '../agents/agents.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';

type Schemas = components['schemas'];

let made = 0;

/** A credit package of 100 credits a month, with these fields. */
export async function makeCreditPackage(
  app: TestApp,
  fields: Partial<Schemas['CreditPackageCreate']> = {},
  key?: string,
): Promise<Schemas['CreditPackage']> {
  const body = {
    name: `Credits ${++made}`,
    creditValueCents: 2,
    creditsAmount: 100,
    renewalIntervalMonths: 1,
    ...fields,
  };
  return (await app.api('post', '/billing/credit-packages', key).send(body).expect(201)).body;
}

/** The body of a monthly plan of 49 dollars with these fields; it has no content. */
export function planFields(fields: object = {}) {
  return {
    name: `Plan ${++made}`,
    billingType: 'recurring',
    billingIntervalMonths: 1,
    priceCents: 4900,
    currency: 'USD',
    seatsIncluded: 5,
    ...fields,
  };
}

/** A monthly plan of 49 dollars with these fields, with one agent, unless they name a package or a content. */
export async function makePlan(
  app: TestApp,
  fields: Partial<Schemas['PlanCreate']> = {},
  key?: string,
): Promise<Schemas['Plan']> {
  const hasContent = fields.content !== undefined || fields.packagePublicId !== undefined;
  const content = hasContent ? {} : { content: await contentOf(app, key) };
  const body = planFields({ ...content, ...fields });
  return (await app.api('post', '/billing/plans', key).send(body).expect(201)).body;
}

/** The home page and one new agent. */
export async function contentOf(app: TestApp, key?: string): Promise<Schemas['PlanContent']> {
  const { publicId } = await makeAgent(app, {}, key);
  return { agents: [{ agentPublicId: publicId }], pages: ['home'] };
}

/** The plan as `getPlan` shows it. */
export async function readPlan(app: TestApp, id: string): Promise<Schemas['Plan']> {
  return (await app.api('get', `/billing/plans/${id}`).expect(200)).body;
}

/** A row of a client in this status, without what the operations of clients would make with it. */
export async function insertClient(
  { workspaceId, db }: SeededWorkspace,
  fields: Partial<Insertable<Clients>> = {},
): Promise<string> {
  const id = newId();
  const pending_plan_at = fields.pending_plan_id ? new Date() : null;
  await db
    .insertInto('clients')
    .values({ workspace_id: workspaceId, id, name: `Client ${++made}`, status: 'active', pending_plan_at, ...fields })
    .execute();
  return id;
}
