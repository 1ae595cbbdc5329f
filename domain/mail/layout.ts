import { isColor, readableOn, textOn } from '../../core/colors.ts';
import { type Html, html } from '../../core/html.ts';
import type { MailHub, MailWording } from './render.ts';

/** The colours of a mail, of which each text can be read on its background (WCAG 2.2, 1.4.3). */
const THEMES = {
  light: { page: '#f3f4f6', card: '#ffffff', text: '#1f2430', quiet: '#565d6b', line: '#dfe2e8' },
  dark: { page: '#111318', card: '#1b1e26', text: '#eef0f4', quiet: '#a9b0bd', line: '#343945' },
} as const;
const DEFAULT_COLOR = '#3d4fd6';
const FONT = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";
/** What a long name without spaces needs, lest it make the mail wider than the screen. */
const BREAK = 'word-break: break-word; overflow-wrap: anywhere';
/** Some mail programs fill the preview with what comes after the preheader. */
const PAUSE = '\u034f\u00a0'.repeat(60);

/** The mail as a page of tables with its styles in place: the parts of HTML that mail programs know. */
export function layout(wording: MailWording, greeting: string, hub: MailHub): Html {
  const { page, card, text } = THEMES[hub.theme];
  const { preheader, heading, paragraphs } = wording;
  const paragraph = `margin: 0 0 16px; ${FONT}; font-size: 16px; line-height: 24px; color: ${text}; ${BREAK}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${hub.theme}">
<meta name="supported-color-schemes" content="${hub.theme}">
<meta name="x-apple-disable-message-reformatting">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${wording.subject}</title>
</head>
<body style="margin: 0; padding: 0; background-color: ${page}; color-scheme: ${hub.theme}">
<div style="display: none; max-height: 0; overflow: hidden; mso-hide: all">${preheader}${PAUSE}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${page}" style="background-color: ${page}">
<tr><td align="center" style="padding: 24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width: 560px; table-layout: fixed">
<tr><td align="left" style="padding: 0 4px 20px">${brandOf(hub)}</td></tr>
<tr><td align="left" bgcolor="${card}" style="background-color: ${card}; border-radius: 12px; padding: 28px 24px 12px">
<h1 style="margin: 0 0 16px; ${FONT}; font-size: 22px; line-height: 30px; color: ${text}; ${BREAK}">${heading}</h1>
<p style="${paragraph}">${greeting}</p>
${paragraphs.map((each) => html`<p style="${paragraph}">${each}</p>\n`)}${factsOf(wording, hub)}${actionOf(wording, hub)}</td></tr>
<tr><td align="left" style="padding: 20px 4px 0">${footOf(wording, hub)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

/** The logo, or the name where there is none that mail programs show. */
function brandOf({ name, logoUrl, theme }: MailHub): Html {
  const style = `${FONT}; font-size: 18px; line-height: 26px; font-weight: 600; color: ${THEMES[theme].text}; ${BREAK}`;
  if (logoUrl === null || /\.svg$/i.test(logoUrl)) return html`<span style="${style}">${name}</span>`;
  return html`<img src="${logoUrl}" alt="${name}" height="40" style="display: block; height: 40px; max-width: 240px; border: 0; ${style}">`;
}

function factsOf({ facts }: MailWording, { theme }: MailHub): Html | null {
  if (facts.length === 0) return null;
  const { text, quiet, line } = THEMES[theme];
  const cell = `padding: 10px 0; border-top: 1px solid ${line}; ${FONT}; font-size: 15px; line-height: 22px; vertical-align: top`;
  return html`<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin: 0 0 20px; table-layout: fixed; border-bottom: 1px solid ${line}">
${facts.map(
  ([
    label,
    value,
  ]) => html`<tr><th scope="row" align="left" width="34%" style="${cell}; font-weight: 400; color: ${quiet}">${label}</th>
<td align="left" style="${cell}; color: ${text}; ${BREAK}">${value}</td></tr>
`,
)}</table>
`;
}

function actionOf({ action }: MailWording, { theme, color }: MailHub): Html | null {
  if (!action) return null;
  const { card, quiet } = THEMES[theme];
  const fill = color !== null && isColor(color) ? color : DEFAULT_COLOR;
  const ink = textOn(fill);
  const small = `margin: 0 0 16px; ${FONT}; font-size: 13px; line-height: 20px; color: ${quiet}; ${BREAK}`;
  return html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin: 4px 0 24px"><tr>
<td align="center" bgcolor="${fill}" style="background-color: ${fill}; border-radius: 8px; border: 1px solid ${readableOn(fill, card)}">
<a href="${action.url}" style="display: inline-block; padding: 13px 26px; ${FONT}; font-size: 16px; line-height: 22px; font-weight: 600; color: ${ink}; text-decoration: none">${action.label}</a>
</td></tr></table>
<p style="${small}">If the button does not work, open this address:<br><a href="${action.url}" style="color: ${readableOn(fill, card)}">${action.url}</a></p>
`;
}

function footOf({ note }: MailWording, { name, supportEmail, theme, color }: MailHub): Html {
  const { page, quiet } = THEMES[theme];
  const style = `margin: 0 0 8px; ${FONT}; font-size: 13px; line-height: 20px; color: ${quiet}; ${BREAK}`;
  const link = readableOn(color !== null && isColor(color) ? color : DEFAULT_COLOR, page);
  return html`<p style="${style}">${note}</p>
<p style="${style}">${name}${supportEmail === null ? null : html` · <a href="mailto:${supportEmail}" style="color: ${link}">${supportEmail}</a>`}</p>`;
}
