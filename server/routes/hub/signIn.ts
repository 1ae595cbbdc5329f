import { setTimeout as sleep } from 'node:timers/promises';
import { type HtmlContent, html } from '../../../core/html.ts';
import { newId } from '../../../core/ids.ts';
import { findUsersByEmail } from '../../../db/queries/clients/clientTokens.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { isEmailAddress } from '../../../domain/clients/emails.ts';
import { endSession, newToken } from '../../../domain/hubs/sessions.ts';
import { queueMail } from '../../../domain/mail/queueMail.ts';
import { hubPageOf } from '../../pages/hub/shell.ts';
import { fillText } from '../../pages/hub/texts.ts';
import { followLink, showLink } from './accept.ts';
import { hubAssetNames } from './assets.ts';
import { field, problemSummary } from './fields.ts';
import type { HubReply, HubRoute, HubSite, HubVisit } from './visit.ts';

/** Links of a user that work at a time; more are not sent until one has expired. */
const MAX_LINKS = 5;
/** Users of one mailbox who are sent a link, each for a client of its own. */
const MAX_USERS = 20;
/** An answer takes at least so long, so that its time does not tell whether a mail was queued. */
const ANSWER_MS = 150;

const PATH = '/sign-in';
const LINK = { path: '/sign-in/{token}', counted: 'link', asksUser: true } as const;

/** Asks for the email. */
export const signInPage: HubRoute = {
  name: 'hubSignInPage',
  method: 'GET',
  path: PATH,
  counted: 'page',
  asksUser: true,
  handle: (visit) => (visit.user ? { redirect: `${visit.site.base}/` } : askEmail(visit)),
};

/** Sends a link to each user with the email, and says the same whether or not there is one. */
export const signInForm: HubRoute = {
  name: 'hubSignIn',
  method: 'POST',
  path: PATH,
  counted: 'mail',
  async handle(visit) {
    const { site, workspaceId, limits } = visit;
    const given = visit.form.get('email') ?? '';
    const email = given.trim();
    if (!isEmailAddress(email)) return askEmail(visit, given);
    const isAllowed = limits.takeMail(workspaceId, email);
    await Promise.all([isAllowed && sendLinks(visit, email), sleep(ANSWER_MS)]);
    const { texts } = site.language;
    return {
      page: hubPageOf(site, hubAssetNames, {
        title: texts.sentTitle,
        main: html`<h1>${texts.sentTitle}</h1><p>${fillText(texts.sentText, { email })}</p>`,
      }),
    };
  },
};

function askEmail({ site }: HubVisit, wrong?: string): HubReply {
  const { texts } = site.language;
  const banner = site.hub.logo_banner_key;
  const problem = wrong === undefined ? undefined : texts.emailWrong;
  return {
    status: problem === undefined ? 200 : 422,
    page: hubPageOf(site, hubAssetNames, {
      title: texts.signInTitle,
      main: html`${banner !== null && html`<img class="banner" src="${site.files}${banner}" alt="">`}
<h1>${texts.signInTitle}</h1>
<p class="quiet">${texts.signInText}</p>
${problem !== undefined && problemSummary(texts.problem)}
<form method="post" action="${site.base}${PATH}" novalidate>
${field({ name: 'email', label: texts.email, type: 'email', autocomplete: 'email', value: wrong ?? '', problem, isRequired: true })}
<button type="submit">${texts.signInButton}</button>
</form>
${signUpOf(site)}`,
    }),
  };
}

/** Anyone may get the default plan of a public hub. */
function signUpOf({ hub, base, language }: HubSite): HtmlContent {
  if (hub.access_type !== 'public' || hub.default_plan_id === null) return undefined;
  return html`<p><a href="${base}/checkout/${hub.default_plan_id}">${language.texts.signUp}</a></p>`;
}

/** Queues a mail for each user. A user who has many links that still work gets none. */
async function sendLinks({ db, workspaceId, runtime, clock, site }: HubVisit, email: string): Promise<void> {
  const now = clock.now();
  const users = await findUsersByEmail(db, workspaceId, email, { kind: 'sign_in', now, limit: MAX_USERS });
  for (const { id: userId, email: address, name, tokens } of users) {
    if (tokens >= MAX_LINKS) continue;
    await inTransaction(db, async (trx) => {
      const { token, expiresAt } = await newToken(trx, { workspaceId, userId, kind: 'sign_in', now });
      const data = { url: `${site.address}${PATH}/${token}`, expiresAt: expiresAt.toISOString() };
      const key = `sign_in:${newId()}`;
      await queueMail(
        trx,
        { runtime, clock },
        { workspaceId, kind: 'sign_in', to: { email: address, name }, key, data },
      );
    });
  }
}

/** The page of a link that was mailed. */
export const signInLinkPage: HubRoute = {
  ...LINK,
  name: 'hubSignInLinkPage',
  method: 'GET',
  handle: (visit) => showLink(visit, 'sign_in'),
};

/** Signs the user of the link in. */
export const signInLinkForm: HubRoute = {
  ...LINK,
  name: 'hubSignInLink',
  method: 'POST',
  handle: (visit) => followLink(visit, 'sign_in'),
};

/** Ends the session, here and in the browser. */
export const signOut: HubRoute = {
  name: 'hubSignOut',
  method: 'POST',
  path: '/sign-out',
  counted: 'page',
  async handle({ db, workspaceId, sessionToken: token, clock, site }) {
    if (token !== undefined) await endSession(db, { workspaceId, token, now: clock.now() });
    return { redirect: `${site.base}${PATH}`, session: null };
  },
};
