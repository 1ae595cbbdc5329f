import { Html, type HtmlContent, html } from '../../../core/html.ts';
import { type PlanRow, selectOfferedPlans } from '../../../db/queries/billing/plans.ts';
import { formatPrice } from '../../../domain/billing/money.ts';
import { type HubPage, hubPageOf } from '../../pages/hub/shell.ts';
import type { HubTexts } from '../../pages/hub/texts/english.ts';
import { fillText } from '../../pages/hub/texts.ts';
import { embedLoader, hubAssetNames } from './assets.ts';
import type { HubRoute, HubSite, HubVisit } from './visit.ts';

/** Plans of one page. */
const MAX_PLANS = 50;

/** The prices of a hub: its visible plans. They are for everybody, also where the hub itself is by invitation only. */
export const pricingPage: HubRoute = {
  name: 'hubPricing',
  method: 'GET',
  path: '/pricing',
  counted: 'page',
  handle: async (visit) => ({ page: await pricesOf(visit, 'wide'), isPublic: true }),
};

/** The same for a frame in a page of any other site. */
export const pricingEmbed: HubRoute = {
  name: 'hubPricingEmbed',
  method: 'GET',
  path: '/pricing/embed',
  counted: 'page',
  handle: async (visit) => ({ page: await pricesOf(visit, 'embed'), isPublic: true }),
};

/** The script that puts such a frame into a page. */
export const pricingLoader: HubRoute = {
  name: 'hubPricingLoader',
  method: 'GET',
  path: '/pricing/embed.js',
  counted: 'page',
  handle: () => ({ asset: embedLoader }),
};

async function pricesOf({ db, workspaceId, site }: HubVisit, kind: 'wide' | 'embed'): Promise<HubPage> {
  const plans = await selectOfferedPlans(db, workspaceId, MAX_PLANS);
  const { texts } = site.language;
  const list = html`<ul class="plans">${plans.map((plan) => cardOf(site, plan, kind === 'embed'))}</ul>`;
  return hubPageOf(site, hubAssetNames, {
    title: texts.pricingTitle,
    kind,
    pricing: true,
    isPublic: kind === 'wide',
    main: html`<h1${kind === 'embed' && new Html(' class="hidden"')}>${texts.pricingTitle}</h1>
${plans.length > 0 ? list : html`<p>${texts.noPlans}</p>`}`,
  });
}

function cardOf({ base, hub, language }: HubSite, plan: PlanRow, isEmbed: boolean): HtmlContent {
  const { texts } = language;
  const title = plan.widget_title ?? plan.name;
  const about = plan.widget_description ?? plan.description;
  const target = isEmbed && new Html(' target="_top"');
  return html`<li class="card${plan.widget_highlighted && ' highlighted'}">
${plan.widget_highlighted && html`<span class="badge">${texts.recommended}</span>`}
<h2><bdi>${title}</bdi></h2>
${about !== null && html`<p class="quiet"><bdi>${about}</bdi></p>`}
${priceOf(plan, hub.locale, texts)}
${featuresOf(plan, texts)}
<a class="button" href="${base}/checkout/${plan.id}"${target}><bdi>${plan.widget_cta_text ?? fillText(texts.choose, { plan: title })}</bdi></a>
</li>`;
}

/** The price of a plan and how often it is paid. */
export function priceOf(plan: PlanRow, locale: string, texts: HubTexts): HtmlContent {
  if (plan.price_cents === 0) return html`<p class="price"><strong>${texts.free}</strong></p>`;
  const price = formatPrice(plan.price_cents, plan.currency, locale);
  return html`<p class="price"><strong><bdi>${price}</bdi></strong> <span class="quiet">${intervalOf(plan, texts)}</span></p>`;
}

function intervalOf({ billing_type: type, billing_interval_months: months }: PlanRow, texts: HubTexts): string {
  if (type === 'one_time') return texts.once;
  if (months === 1) return texts.everyMonth;
  return months === 12 ? texts.everyYear : fillText(texts.everyMonths, { months });
}

/** What the plan's widget lists; without a list what the plan itself says. */
function featuresOf(plan: PlanRow, texts: HubTexts): HtmlContent {
  const { widget_features: listed, unlimited_credits: isUnlimited, credits_amount: credits } = plan;
  const own = [
    isUnlimited ? texts.unlimitedCredits : undefined,
    !isUnlimited && credits !== null
      ? fillText(texts.creditsIncluded, { credits: credits + (plan.extra_credits_amount ?? 0) })
      : undefined,
    fillText(texts.seats, { seats: plan.seats_included }),
  ];
  const features = listed.length > 0 ? listed : own.flatMap((text) => (text ? [{ text, included: true }] : []));
  return html`<ul class="features">${features.map(
    ({ text, included }) =>
      html`<li class="${included ? 'present' : 'absent'}"><span><span class="hidden">${
        included ? texts.included : texts.notIncluded
      }: </span><span dir="auto">${text}</span></span></li>`,
  )}</ul>`;
}
