import { Html, type HtmlContent, html } from '../../../core/html.ts';
import { brandStyle, type HubLook } from './brand.ts';
import type { PageLanguage } from './texts.ts';

/** What a page knows of its hub. */
export interface ShellHub extends HubLook {
  name: string;
  logo_horizontal_key: string | null;
  logo_icon_key: string | null;
  logo_banner_key: string | null;
  support_channel_type: string | null;
  support_channel_value: string | null;
  support_email: string | null;
  support_whatsapp_message: string | null;
}

/** Where the parts of a page are. None of it is a visitor's text. */
export interface PageSite {
  hub: ShellHub;
  language: PageLanguage;
  /** What comes before the path of each page of the hub: nothing, or such as `/hub/acme`. */
  base: string;
  /** What comes before the key of a public file, such as `/files/`. */
  files: string;
}

/** A page as it is sent: its text, and what its Content-Security-Policy allows beside the hub's own files. */
export interface HubPage {
  text: string;
  styleSource: string;
  isEmbed: boolean;
}

/** Names of the files that pages load; server/routes/hub/assets.ts serves them. */
export interface AssetNames {
  style: string;
  frame: string;
}

/** Puts a page together: the frame in the hub's brand around its content. */
export function hubPageOf(
  site: PageSite,
  assets: AssetNames,
  {
    title,
    main,
    aside,
    kind = 'narrow',
    pricing = false,
    isPublic = false,
  }: {
    title: string;
    main: HtmlContent;
    /** At the end of the head of the page. */
    aside?: HtmlContent;
    kind?: 'narrow' | 'wide' | 'embed';
    /** Whether its buttons have the colour of the pricing widget. */
    pricing?: boolean;
    /** Whether search engines may show it. */
    isPublic?: boolean;
  },
): HubPage {
  const { hub, base, files, language } = site;
  const { element, source } = brandStyle(hub, pricing ? 'pricing_widget_color' : 'primary_color');
  const isEmbed = kind === 'embed';
  const icon = hub.logo_icon_key !== null && html`<link rel="icon" href="${files}${hub.logo_icon_key}">`;
  const top = html`<a class="skip" href="#main">${language.texts.skip}</a>
<header><a class="brand" href="${base}/">${logoOf(site)}</a>${aside}</header>`;
  const page = html`<html lang="${language.lang}" dir="${language.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${!isPublic && html`<meta name="robots" content="noindex">`}
<title>${title} – ${hub.name}</title>
${icon}<link rel="stylesheet" href="${base}/assets/${assets.style}">
${element}
${isEmbed && html`<script src="${base}/assets/${assets.frame}" defer></script>`}
</head>
<body${isEmbed && new Html(' class="embed"')}>
${!isEmbed && top}
<main id="main"${kind !== 'narrow' && new Html(' class="wide"')}>
${main}
</main>
${!isEmbed && footerOf(site)}
</body>
</html>
`;
  return { text: `<!doctype html>\n${page}`, styleSource: source, isEmbed };
}

function logoOf({ hub, files }: PageSite): HtmlContent {
  if (hub.logo_horizontal_key === null) return html`<bdi>${hub.name}</bdi>`;
  return html`<img src="${files}${hub.logo_horizontal_key}" alt="${hub.name}">`;
}

function footerOf({ hub, language }: PageSite): HtmlContent {
  const address = supportAddress(hub);
  return (
    address !== undefined &&
    html`<footer><a href="${address}" rel="noopener noreferrer">${language.texts.help}</a></footer>`
  );
}

/** Where a visitor gets help; undefined when the hub names no address that can be followed safely. */
export function supportAddress(hub: ShellHub): string | undefined {
  const { support_channel_type: type, support_channel_value: value } = hub;
  if (type === 'url' && value !== null) {
    const url = URL.parse(value);
    return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
  }
  if (type === 'whatsapp' && value !== null) {
    const number = value.replaceAll(/\D/g, '');
    const text = hub.support_whatsapp_message;
    return number === ''
      ? undefined
      : `https://wa.me/${number}${text ? `?text=${encodeURIComponent(text.toWellFormed())}` : ''}`;
  }
  const email = type === 'email' ? value : hub.support_email;
  return email && /^[^\s@]+@[^\s@]+$/.test(email)
    ? `mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`
    : undefined;
}
