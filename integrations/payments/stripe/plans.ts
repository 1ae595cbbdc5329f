import type { Stripe } from 'stripe';
import type { MirroredPlan, PaymentProvider, PlanObjects } from '../provider.ts';
import { stripeAmount } from './amounts.ts';
import type { StripeCall } from './client.ts';
import { unlessMissing } from './missing.ts';

/** In the metadata of what is made: which intent made it, so that it is found when its answer was lost. */
export const INTENT = 'guildhall_intent';

/** The id of a product is ours to choose, so that it is found by its intent. */
const productIdOf = (key: string) => `guildhall_${key}`;

/** Payment links that are looked through for those of an intent, newest first, 100 a page. */
const MAX_LINK_PAGES = 20;

/** Products, prices and payment links. `feePercent` of each payment is the platform's. */
export function stripePlans(
  call: StripeCall,
  feePercent: number | null,
): Pick<
  PaymentProvider,
  'createPlan' | 'changePlan' | 'restorePlan' | 'archivePlan' | 'replacePaymentLink' | 'undoPlan'
> {
  const makePrice = (key: string, productId: string, plan: MirroredPlan) =>
    call({ key: `${key}-price` }, (stripe, options) =>
      stripe.prices.create(
        {
          product: productId,
          currency: plan.currency.toLowerCase(),
          unit_amount: stripeAmount(plan.priceCents, plan.currency, plan.currencyDigits),
          lookup_key: key,
          metadata: { guildhall_plan: plan.id, [INTENT]: key },
          ...(plan.intervalMonths === null
            ? {}
            : { recurring: { interval: 'month', interval_count: plan.intervalMonths } }),
        },
        options,
      ),
    );

  const makeLink = (key: string, priceId: string, plan: MirroredPlan) =>
    call({ key: `${key}-link` }, (stripe, options) =>
      stripe.paymentLinks.create(
        {
          line_items: [{ price: priceId, quantity: 1 }],
          metadata: { guildhall_plan: plan.id, [INTENT]: key },
          ...(plan.returnUrl === null
            ? {}
            : { after_completion: { type: 'redirect', redirect: { url: plan.returnUrl } } }),
          ...fee(plan, feePercent),
        },
        options,
      ),
    );

  const setPrice = (key: string, id: string, active: boolean) =>
    unlessMissing(
      call({ key: `${key}-${active}-${id}` }, (stripe, options) => stripe.prices.update(id, { active }, options)),
    );
  const setLink = (key: string, id: string, active: boolean) =>
    unlessMissing(
      call({ key: `${key}-${active}-${id}` }, (stripe, options) => stripe.paymentLinks.update(id, { active }, options)),
    );

  async function restore(
    key: string,
    ids: Omit<PlanObjects, 'paymentLinkUrl'>,
    plan: Pick<MirroredPlan, 'name' | 'description' | 'isActive'>,
  ): Promise<void> {
    await call({ key: `${key}-product-change` }, (stripe, options) =>
      // An empty text clears the description.
      stripe.products.update(ids.productId, { ...productFields(plan), description: plan.description ?? '' }, options),
    );
    await setPrice(key, ids.priceId, true);
    await setLink(key, ids.paymentLinkId, plan.isActive);
  }

  /** Active links that calls with this key made. They cannot be asked for by metadata. */
  async function linksOf(key: string, since: Date): Promise<string[]> {
    const found: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < MAX_LINK_PAGES; page += 1) {
      const links = await call({}, (stripe, options) =>
        stripe.paymentLinks.list(
          { active: true, limit: 100, ...(after === undefined ? {} : { starting_after: after }) },
          options,
        ),
      );
      found.push(...links.data.filter((link) => link.metadata[INTENT] === key).map(({ id }) => id));
      const last = links.data.at(-1);
      // Newest first. The clocks of two machines may differ by some minutes.
      const isOlder =
        ((last as { created?: number } | undefined)?.created ?? Infinity) * 1000 < since.getTime() - 600_000;
      if (!links.has_more || !last || isOlder) return found;
      after = last.id;
    }
    return found;
  }

  return {
    async createPlan(key, plan) {
      const product = await call({ key: `${key}-product` }, (stripe, options) =>
        stripe.products.create(
          { id: productIdOf(key), ...productFields(plan), metadata: metadataOf(key, plan) },
          options,
        ),
      );
      const price = await makePrice(key, product.id, plan);
      const link = await makeLink(key, price.id, plan);
      if (!plan.isActive) await setLink(key, link.id, false);
      return { productId: product.id, priceId: price.id, paymentLinkId: link.id, paymentLinkUrl: link.url };
    },

    async changePlan(key, ids, plan) {
      const present = await call({}, (stripe, options) => stripe.prices.retrieve(ids.priceId, {}, options));
      const amount = stripeAmount(plan.priceCents, plan.currency, plan.currencyDigits);
      let now: PlanObjects = ids;
      if (present.unit_amount !== amount) {
        const price = await makePrice(key, ids.productId, plan);
        const link = await makeLink(key, price.id, plan);
        now = { productId: ids.productId, priceId: price.id, paymentLinkId: link.id, paymentLinkUrl: link.url };
        await setLink(key, ids.paymentLinkId, false);
        await setPrice(key, ids.priceId, false);
      }
      await restore(key, now, plan);
      return now;
    },

    restorePlan: restore,

    async archivePlan(key, { productId, priceId, paymentLinkId }) {
      await setLink(key, paymentLinkId, false);
      await setPrice(key, priceId, false);
      await unlessMissing(
        call({ key: `${key}-archive` }, (stripe, options) =>
          stripe.products.update(productId, { active: false }, options),
        ),
      );
    },

    async replacePaymentLink(key, ids, plan) {
      const link = await makeLink(key, ids.priceId, plan);
      await setLink(key, ids.paymentLinkId, false);
      if (!plan.isActive) await setLink(key, link.id, false);
      return { paymentLinkId: link.id, paymentLinkUrl: link.url };
    },

    async undoPlan(key, since, keep) {
      for (const link of await linksOf(key, since)) if (!keep.includes(link)) await setLink(`${key}-undo`, link, false);
      const prices = await call({}, (stripe, options) =>
        stripe.prices.list({ lookup_keys: [key], limit: 100 }, options),
      );
      for (const { id } of prices.data) if (!keep.includes(id)) await setPrice(`${key}-undo`, id, false);
      const productId = productIdOf(key);
      if (keep.includes(productId)) return;
      const product = await unlessMissing(
        call({}, (stripe, options) => stripe.products.retrieve(productId, {}, options)),
      );
      if (!product) return;
      // A product with a price cannot be deleted.
      if (prices.data.length > 0) {
        await call({ key: `${key}-undo-product` }, (stripe, options) =>
          stripe.products.update(productId, { active: false }, options),
        );
      } else
        await call({ key: `${key}-undo-product` }, (stripe, options) => stripe.products.del(productId, {}, options));
    },
  };
}

const metadataOf = (key: string, plan: MirroredPlan) => ({ guildhall_plan: plan.id, [INTENT]: key });

function productFields(plan: Pick<MirroredPlan, 'name' | 'description' | 'isActive'>) {
  return {
    name: plan.name,
    active: plan.isActive,
    ...(plan.description === null ? {} : { description: plan.description }),
  } satisfies Stripe.ProductUpdateParams;
}

function fee(plan: MirroredPlan, feePercent: number | null): Partial<Stripe.PaymentLinkCreateParams> {
  if (feePercent === null || feePercent === 0) return {};
  if (plan.intervalMonths !== null) return { application_fee_percent: feePercent };
  return {
    application_fee_amount: feeOf(stripeAmount(plan.priceCents, plan.currency, plan.currencyDigits), feePercent),
  };
}

/** `percent` (at most two decimals) of an amount, rounded down to the whole unit. */
export function feeOf(amount: number, percent: number): number {
  return Number((BigInt(amount) * BigInt(Math.round(percent * 100))) / 10_000n);
}
