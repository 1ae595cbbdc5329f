import { html } from '../../../core/html.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { findLinkUser, newToken, useToken } from '../../../domain/hubs/sessions.ts';
import { type HubPage, hubPageOf } from '../../pages/hub/shell.ts';
import { fillText } from '../../pages/hub/texts.ts';
import { hubAssetNames } from './assets.ts';
import type { HubReply, HubRoute, HubSite, HubVisit } from './visit.ts';

/** The two kinds of links that sign a user in, with what their pages say. */
const LINKS = {
  invitation: { title: 'acceptTitle', text: 'acceptText', button: 'acceptButton' },
  sign_in: { title: 'confirmTitle', text: 'confirmText', button: 'signInTitle' },
} as const;

/** Shows whom a link signs in, with a button that does it. A GET changes nothing: programs that scan mails follow links, too. */
export async function showLink(visit: HubVisit, kind: keyof typeof LINKS): Promise<HubReply> {
  const { db, workspaceId, params, clock, site } = visit;
  const user = await findLinkUser(db, { workspaceId, token: params.token ?? '', now: clock.now() }, kind);
  if (!user) return brokenLink(visit);
  const { texts } = site.language;
  const names = LINKS[kind];
  const values = { client: user.client_name, email: user.email };
  const title = fillText(texts[names.title], values);
  const banner = site.hub.logo_banner_key;
  return {
    page: hubPageOf(site, hubAssetNames, {
      title,
      main: html`${banner !== null && html`<img class="banner" src="${site.files}${banner}" alt="">`}
<h1>${title}</h1>
<p>${fillText(texts[names.text], values)}</p>
<form method="post"><button type="submit">${texts[names.button]}</button></form>`,
    }),
  };
}

/** Uses the link, and signs its user in. Who was signed in before in this browser is signed out. */
export async function followLink(visit: HubVisit, kind: keyof typeof LINKS): Promise<HubReply> {
  const { db, workspaceId, params, clock, site } = visit;
  const now = clock.now();
  const session = await inTransaction(db, async (trx) => {
    const user = await useToken(trx, { workspaceId, token: params.token ?? '', now }, kind);
    return user && newToken(trx, { workspaceId, userId: user.id, kind: 'session', now });
  });
  return session ? { redirect: `${site.base}/`, session } : brokenLink(visit);
}

/** The same for every link that does not work: nobody learns whether it ever did. Who is signed in does not need it. */
function brokenLink({ site, user }: HubVisit): HubReply {
  if (user) return { redirect: `${site.base}/` };
  return { status: 404, page: brokenLinkPage(site) };
}

function brokenLinkPage(site: HubSite): HubPage {
  const { texts } = site.language;
  return hubPageOf(site, hubAssetNames, {
    title: texts.linkTitle,
    main: html`<h1>${texts.linkTitle}</h1>
<p>${texts.linkText}</p>
<a class="button" href="${site.base}/sign-in">${texts.signInTitle}</a>`,
  });
}

const ACCEPT = { path: '/accept/{token}', counted: 'link', asksUser: true } as const;

/** The page of an invitation's link. */
export const acceptPage: HubRoute = {
  ...ACCEPT,
  name: 'hubAcceptPage',
  method: 'GET',
  handle: (visit) => showLink(visit, 'invitation'),
};

/** Accepts the invitation: its user is onboarded and signed in. */
export const acceptForm: HubRoute = {
  ...ACCEPT,
  name: 'hubAccept',
  method: 'POST',
  handle: (visit) => followLink(visit, 'invitation'),
};
