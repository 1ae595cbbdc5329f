import { html } from '../../../core/html.ts';
import { hubPageOf } from '../../pages/hub/shell.ts';
import { hubAssetNames } from './assets.ts';
import type { HubRoute } from './visit.ts';

const TEXTS = { paid: 'thanksPaid', invoice: 'thanksInvoice', free: 'thanksFree' } as const;

/** How a purchase went on, as the address says it. */
export type Thanks = keyof typeof TEXTS;

/** Says what happens next. It knows nothing of the purchase: whoever opens the address sees the same. */
export const thankYouPage: HubRoute = {
  name: 'hubThankYou',
  method: 'GET',
  path: '/thank-you',
  counted: 'page',
  handle({ site, query }) {
    const { texts } = site.language;
    const kind = query.get('kind') ?? '';
    const text = texts[kind === 'invoice' || kind === 'free' ? TEXTS[kind] : TEXTS.paid];
    return {
      page: hubPageOf(site, hubAssetNames, {
        title: texts.thanksTitle,
        main: html`<h1>${texts.thanksTitle}</h1>
<p>${text}</p>
<p><a href="${site.base}/">${texts.back}</a></p>`,
      }),
    };
  },
};
