import { ApiError, fault } from '../../../core/errors.ts';
import { html } from '../../../core/html.ts';
import { isUuid } from '../../../core/ids.ts';
import { findPlan, type PlanRow } from '../../../db/queries/billing/plans.ts';
import { findClient } from '../../../db/queries/clients/clients.ts';
import { isEmailAddress, isOneLine } from '../../../domain/clients/emails.ts';
import { beginCheckout, type PurchaseStep } from '../../../domain/payments/checkout.ts';
import { hubPageOf } from '../../pages/hub/shell.ts';
import { fillText } from '../../pages/hub/texts.ts';
import { tooMany } from '../chat/limits.ts';
import { hubAssetNames } from './assets.ts';
import { field, problemSummary, textOf } from './fields.ts';
import { priceOf } from './pricing.ts';
import type { Thanks } from './thankYou.ts';
import type { HubReply, HubRoute, HubVisit } from './visit.ts';

const MAX_NAME = 255;
const MAX_WORKSPACE_NAME = 150;
const MAX_CODE = 50;
const WAIT_SECONDS = 60;
/** The provider's page is by https; browsers apply the form's policy to where it is redirected, too. */
const FORM_TARGETS = 'https:';
/** A client with a plan in one of these has what it pays for. */
const RUNNING: ReadonlySet<string> = new Set(['active', 'past_due', 'suspended']);

const CHECKOUT = { path: '/checkout/{plan}', asksUser: true } as const;

/** What is wrong with a field, or with the whole. */
type CheckoutProblems = Partial<Record<'email' | 'name' | 'workspaceName' | 'coupon' | 'whole', string>>;

/** Asks for what is needed to buy a plan. */
export const checkoutPage: HubRoute = {
  ...CHECKOUT,
  name: 'hubCheckoutPage',
  method: 'GET',
  counted: 'page',
  async handle(visit) {
    const plan = await planForSale(visit);
    return (await refusalOf(visit)) ?? checkoutForm(visit, plan);
  },
};

/** Begins the purchase, and leads to the provider's page or to the thanks. */
export const checkoutPost: HubRoute = {
  ...CHECKOUT,
  name: 'hubCheckout',
  method: 'POST',
  counted: 'checkout',
  async handle(visit) {
    const { form, user, site, workspaceId, limits } = visit;
    const plan = await planForSale(visit);
    const refused = await refusalOf(visit);
    if (refused) return refused;
    const { texts } = site.language;
    const email = user?.email ?? form.get('email')?.trim() ?? '';
    const name = user?.name ?? lineOf(form, 'name', MAX_NAME);
    const workspaceName = user?.client_name ?? lineOf(form, 'workspaceName', MAX_WORKSPACE_NAME);
    const couponCode = (form.get('coupon') ?? '').trim();
    const problems: CheckoutProblems = {};
    if (!user && !isEmailAddress(email)) problems.email = texts.emailWrong;
    if (name === undefined) problems.name = texts.nameWrong;
    if (workspaceName === undefined) problems.workspaceName = texts.workspaceNameWrong;
    if (couponCode.length > MAX_CODE) problems.coupon = texts.couponWrong;
    if (name === undefined || workspaceName === undefined || Object.keys(problems).length > 0)
      return checkoutForm(visit, plan, problems);
    // Each purchase may send a mail to whatever address was given.
    if (!limits.takeMail(workspaceId, email)) throw tooMany(WAIT_SECONDS);
    const purchase = {
      planId: plan.id,
      email,
      name,
      workspaceName,
      couponCode: couponCode === '' || plan.price_cents === 0 ? undefined : couponCode,
      clientId: user?.client_id,
      kind: 'plan' as const,
    };
    try {
      return await replyTo(visit, plan, await beginCheckout(visit, purchase));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'PAYMENT_PROVIDER_ERROR')
        return checkoutForm(visit, plan, { whole: texts.providerFailed }, error.status);
      const isCoupon = error.code === 'COUPON_NOT_FOUND' || error.code === 'COUPON_RULE_VIOLATED';
      if (!isCoupon) throw error;
      return checkoutForm(visit, plan, { coupon: texts.couponWrong });
    }
  },
};

/** The active plan that the address names. Throws NOT_FOUND. */
async function planForSale({ db, workspaceId, params }: HubVisit): Promise<PlanRow> {
  const id = params.plan ?? '';
  const plan = isUuid(id) ? await findPlan(db, workspaceId, id) : undefined;
  if (plan?.status !== 'active') throw fault('NOT_FOUND');
  return plan;
}

/** A signed-in user buys for the client, which cannot have two plans. */
async function refusalOf(visit: HubVisit): Promise<HubReply | undefined> {
  const { user, db, workspaceId } = visit;
  const client = user && (await findClient(db, workspaceId, user.client_id));
  return client?.plan_id && RUNNING.has(client.status) ? alreadySubscribed(visit) : undefined;
}

function alreadySubscribed({ site, user }: HubVisit): HubReply {
  const { texts } = site.language;
  return {
    status: 409,
    page: hubPageOf(site, hubAssetNames, {
      title: texts.alreadyTitle,
      main: html`<h1>${texts.alreadyTitle}</h1>
<p>${fillText(texts.alreadyText, { client: user?.client_name ?? '' })}</p>
<p><a href="${site.base}/">${texts.back}</a></p>`,
    }),
  };
}

function lineOf(form: URLSearchParams, name: string, max: number): string | undefined {
  const text = textOf(form, name, max);
  return text !== undefined && isOneLine(text) ? text : undefined;
}

function replyTo(visit: HubVisit, plan: PlanRow, step: PurchaseStep): HubReply {
  const { site } = visit;
  const { texts } = site.language;
  if (step.kind === 'redirect') return { redirect: step.url };
  if (step.kind === 'refused') {
    if (step.reason === 'subscribed') return alreadySubscribed(visit);
    if (step.reason === 'taken') return checkoutForm(visit, plan, { workspaceName: texts.nameTaken });
    return checkoutForm(visit, plan, { whole: texts.tooManyText }, 409);
  }
  const kind: Thanks = step.kind;
  return { redirect: `${site.base}/thank-you?kind=${kind}` };
}

function checkoutForm(
  { site, user, form }: HubVisit,
  plan: PlanRow,
  problems?: CheckoutProblems,
  status = problems ? 422 : 200,
): HubReply {
  const { hub, base, language } = site;
  const { texts } = language;
  const title = fillText(texts.checkoutTitle, { plan: plan.widget_title ?? plan.name });
  const given = (name: string) => form.get(name) ?? '';
  const isFree = plan.price_cents === 0;
  const buyer = html`${field({ name: 'email', label: texts.email, type: 'email', autocomplete: 'email', value: given('email'), problem: problems?.email, isRequired: true })}
${field({ name: 'name', label: texts.name, autocomplete: 'name', value: given('name'), problem: problems?.name, isRequired: true })}
${field({ name: 'workspaceName', label: texts.workspaceName, autocomplete: 'organization', value: given('workspaceName'), problem: problems?.workspaceName, isRequired: true })}`;
  const coupon = field({
    name: 'coupon',
    label: texts.couponCode,
    autocomplete: 'off',
    value: given('coupon'),
    problem: problems?.coupon,
  });
  const paid = hub.payment_mode === 'invoice' ? texts.requestInvoice : texts.goToPayment;
  const page = hubPageOf(site, hubAssetNames, {
    title,
    pricing: true,
    main: html`<h1>${title}</h1>
<div class="card">${priceOf(plan, hub.locale, texts)}</div>
${problems && problemSummary(problems.whole ?? texts.problem)}
${user && html`<p>${fillText(texts.buyFor, { client: user.client_name })}</p>`}
<form method="post" novalidate>
${!user && buyer}
${!isFree && coupon}
<button type="submit">${isFree ? texts.start : paid}</button>
</form>
${!user && html`<p class="quiet">${texts.haveAccount} <a href="${base}/sign-in">${texts.signInTitle}</a></p>`}`,
  });
  return { page, status, formTargets: FORM_TARGETS };
}
