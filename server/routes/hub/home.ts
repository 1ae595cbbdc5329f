import { type HtmlContent, html } from '../../../core/html.ts';
import { type ClientStatus, findClient } from '../../../db/queries/clients/clients.ts';
import { pageOf } from '../../pages/hub/shell.ts';
import type { HubTexts } from '../../pages/hub/texts/english.ts';
import { fill } from '../../pages/hub/texts.ts';
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
    const { texts } = site.language;
    const title = fill(texts.homeTitle, { name: user.name });
    const facts: [string, HtmlContent][] = [
      [texts.signedInAs, html`<bdi>${user.email}</bdi>`],
      [texts.client, html`<bdi>${user.client_name}</bdi>`],
      [texts.status, texts[STATUS_TEXTS[client?.status ?? user.client_status]]],
    ];
    return {
      page: pageOf(site, hubAssetNames, {
        title,
        aside: signOutForm(site),
        main: html`<h1>${title}</h1>
<div class="card"><dl class="facts">
${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
</dl></div>`,
      }),
    };
  },
};

function signOutForm({ base, language }: HubSite): HtmlContent {
  return html`<form method="post" action="${base}/sign-out"><button class="plain" type="submit">${language.texts.signOut}</button></form>`;
}
