import { type HtmlContent, html } from '../../../core/html.ts';
import { findPlan } from '../../../db/queries/billing/plans.ts';
import { type ClientStatus, findClient } from '../../../db/queries/clients/clients.ts';
import { balancesOf } from '../../../domain/credits/credits.ts';
import { hubPageOf } from '../../pages/hub/shell.ts';
import type { HubTexts } from '../../pages/hub/texts/english.ts';
import { fillText } from '../../pages/hub/texts.ts';
import { hubAssetNames } from './assets.ts';
import type { HubRoute, HubSite } from './visit.ts';

/** The text of each status of a subscription. */
const STATUS_TEXTS: Readonly<Record<ClientStatus, keyof HubTexts>> = {
  active: 'statusActive',
  past_due: 'statusPastDue',
  canceled: 'statusCanceled',
  trialing: 'statusTrialing',
  pending_onboarding: 'statusPendingOnboarding',
  suspended: 'statusSuspended',
};

/** A number as the hub's visitors write it. An unknown locale is read as en-US. */
function formatNumber(value: number, locale: string): string {
  try {
    return value.toLocaleString(locale);
  } catch {
    return value.toLocaleString('en-US');
  }
}

/** The first page: who is signed in, and for which client. Everybody else is asked to sign in. */
export const homePage: HubRoute = {
  name: 'hubHome',
  method: 'GET',
  path: '/',
  counted: 'page',
  asksUser: true,
  async handle({ site, db, workspaceId, user }) {
    if (!user) return { redirect: `${site.base}/sign-in` };
    const client = await findClient(db, workspaceId, user.client_id);
    const [plan, balances] = await Promise.all([
      client?.plan_id ? findPlan(db, workspaceId, client.plan_id, { deletedToo: true }) : undefined,
      balancesOf(db, workspaceId, [user.client_id]),
    ]);
    const balance = balances.get(user.client_id);
    const { texts } = site.language;
    const count = (credits: number) => formatNumber(credits, site.hub.locale);
    const title = fillText(texts.homeTitle, { name: user.name });
    const facts: [string, HtmlContent][] = [
      [texts.signedInAs, html`<bdi>${user.email}</bdi>`],
      [texts.client, html`<bdi>${user.client_name}</bdi>`],
      [texts.status, texts[STATUS_TEXTS[client?.status ?? user.client_status]]],
      [texts.plan, plan ? html`<bdi>${plan.name}</bdi>` : texts.noPlan],
    ];
    if (balance) facts.push([texts.credits, balance.isUnlimited ? texts.unlimited : count(balance.included)]);
    if (balance && balance.extra !== 0) facts.push([texts.extraCredits, count(balance.extra)]);
    return {
      page: hubPageOf(site, hubAssetNames, {
        title,
        aside: signOutForm(site),
        main: html`<h1>${title}</h1>
<div class="card"><dl class="facts">
${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
</dl></div>
${!plan && html`<a class="button" href="${site.base}/pricing">${texts.seePlans}</a>`}`,
      }),
    };
  },
};

function signOutForm({ base, language }: HubSite): HtmlContent {
  return html`<form method="post" action="${base}/sign-out"><button class="plain" type="submit">${language.texts.signOut}</button></form>`;
}
