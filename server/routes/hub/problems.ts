import { html } from '../../../core/html.ts';
import { type HubPage, hubPageOf, type PageSite } from '../../pages/hub/shell.ts';
import { fillText, languageOf } from '../../pages/hub/texts.ts';
import { hubAssetNames } from './assets.ts';
import type { HubSite } from './visit.ts';

/** What a problem is shown in where there is no hub. It has no style sheet: none of its addresses leads anywhere. */
const NOBODY: PageSite = {
  hub: {
    name: 'Guildhall',
    theme: 'light',
    primary_color: null,
    secondary_color: null,
    pricing_widget_color: null,
    logo_horizontal_key: null,
    logo_icon_key: null,
    logo_banner_key: null,
    support_channel_type: null,
    support_channel_value: null,
    support_email: null,
    support_whatsapp_message: null,
  },
  language: languageOf('en'),
  base: '',
  files: '',
};

const KEYS = {
  notFound: ['notFoundTitle', 'notFoundText'],
  refused: ['refusedTitle', 'refusedText'],
  tooMany: ['tooManyTitle', 'tooManyText'],
  broken: ['brokenTitle', 'brokenText'],
} as const;

function kindOf(status: number): keyof typeof KEYS {
  if (status === 404) return 'notFound';
  if (status === 429) return 'tooMany';
  return status >= 500 ? 'broken' : 'refused';
}

/** The page that says what went wrong, in the hub's brand where there is one. Nothing of the request stands in it but its id. */
export function problemPage(site: HubSite | undefined, status: number, requestId: string): HubPage {
  const { texts } = (site ?? NOBODY).language;
  const [title, text] = KEYS[kindOf(status)];
  const values = { request: requestId };
  const back = site && html`<p><a href="${site.base}/">${texts.back}</a></p>`;
  return hubPageOf(site ?? NOBODY, hubAssetNames, {
    title: texts[title],
    main: html`<h1>${texts[title]}</h1>
<p>${fillText(texts[text], values)}</p>
${back}`,
  });
}
