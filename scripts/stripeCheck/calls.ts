import type {
  CheckoutRequest,
  MirroredCoupon,
  MirroredPlan,
  PaymentProvider,
  PlanObjects,
} from '../../integrations/payments/provider.ts';

const PLAN: MirroredPlan = {
  id: 'plan-1',
  name: 'Pro',
  description: 'For teams',
  priceCents: 4900,
  currency: 'USD',
  currencyDigits: 2,
  intervalMonths: 1,
  isActive: true,
  returnUrl: 'https://hub.example/thanks',
};
const ONCE: MirroredPlan = { ...PLAN, description: null, intervalMonths: null, isActive: false, returnUrl: null };
const IDS: PlanObjects = {
  productId: 'prod_1',
  priceId: 'price_1',
  paymentLinkId: 'plink_1',
  paymentLinkUrl: 'https://buy.example/1',
};
const COUPON: MirroredCoupon = {
  id: 'coupon-1',
  code: 'HALF_OFF',
  name: 'Half off',
  isActive: true,
  discount: { percent: 50 },
  duration: 'once',
  durationMonths: null,
  productIds: ['prod_1'],
  maxUses: 3,
  validUntil: new Date(Date.now() + 86_400_000),
};
const AMOUNT: MirroredCoupon = {
  ...COUPON,
  name: null,
  isActive: false,
  discount: { amountCents: 500, currency: 'EUR', currencyDigits: 2 },
  duration: 'repeating',
  durationMonths: 3,
  productIds: null,
  maxUses: null,
  validUntil: null,
};
const CHECKOUT: CheckoutRequest = {
  checkoutId: 'checkout-1',
  workspaceId: 'workspace-1',
  email: 'ana@client.example',
  customerId: null,
  item: { kind: 'recurring', priceId: 'price_1' },
  totalCents: 4900,
  currency: 'USD',
  currencyDigits: 2,
  couponId: 'coupon_1',
  successUrl: 'https://hub.example/thanks',
  cancelUrl: 'https://hub.example/pricing',
  brand: { name: 'Acme', color: '#112233' },
  expiresAt: new Date(Date.now() + 3_600_000),
};
const EXTRA = { kind: 'extra_credits', name: 'Credits', amountCents: 500, currency: 'USD', currencyDigits: 2 } as const;
/** One black dot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const IMAGE = { data: PNG, type: 'image/png' } as const;
const BRANDING = { name: 'Acme', primaryColor: '#112233', secondaryColor: '#445566', icon: IMAGE, logo: IMAGE };

/** One call, with a key of its own. */
type Call = (provider: PaymentProvider, key: string) => Promise<unknown>;

/** Calls of every method, so that each parameter which it can send is sent at least once. The type asks for every method. */
export const CALLS: Readonly<Record<keyof PaymentProvider, readonly Call[]>> = {
  createPlan: [(provider, key) => provider.createPlan(key, PLAN), (provider, key) => provider.createPlan(key, ONCE)],
  changePlan: [
    (provider, key) => provider.changePlan(key, IDS, PLAN),
    (provider, key) => provider.changePlan(key, IDS, ONCE),
  ],
  restorePlan: [
    (provider, key) => provider.restorePlan(key, IDS, PLAN),
    (provider, key) => provider.restorePlan(key, IDS, ONCE),
  ],
  archivePlan: [(provider, key) => provider.archivePlan(key, IDS)],
  replacePaymentLink: [
    (provider, key) => provider.replacePaymentLink(key, IDS, PLAN),
    (provider, key) => provider.replacePaymentLink(key, IDS, ONCE),
  ],
  undoPlan: [(provider, key) => provider.undoPlan(key, new Date(), [])],
  createCoupon: [
    (provider, key) => provider.createCoupon(key, COUPON),
    (provider, key) => provider.createCoupon(key, AMOUNT),
  ],
  setCouponActive: [(provider, key) => provider.setCouponActive(key, 'promo_1', false)],
  deleteCoupon: [(provider, key) => provider.deleteCoupon(key, { couponId: 'coupon_1', promotionCodeId: 'promo_1' })],
  undoCoupon: [(provider, key) => provider.undoCoupon(key)],
  syncBranding: [(provider, key) => provider.syncBranding(key, BRANDING)],
  createCheckout: [
    (provider, key) => provider.createCheckout(key, CHECKOUT),
    (provider, key) =>
      provider.createCheckout(key, {
        ...CHECKOUT,
        customerId: 'cus_1',
        item: { kind: 'one_time', priceId: 'price_1' },
      }),
    (provider, key) => provider.createCheckout(key, { ...CHECKOUT, couponId: null, item: EXTRA }),
  ],
  findCheckout: [(provider) => provider.findCheckout('cs_1')],
  findCheckoutOf: [
    (provider) => provider.findCheckoutOf({ paymentId: 'pi_1' }),
    (provider) => provider.findCheckoutOf({ subscriptionId: 'sub_1' }),
  ],
  expireCheckout: [(provider, key) => provider.expireCheckout(key, 'cs_1')],
  findSubscription: [(provider) => provider.findSubscription('sub_1')],
  listSubscriptions: [(provider) => provider.listSubscriptions(), (provider) => provider.listSubscriptions('sub_1')],
  cancelAtPeriodEnd: [(provider, key) => provider.cancelAtPeriodEnd(key, 'sub_1')],
  resume: [(provider, key) => provider.resume(key, 'sub_1')],
  cancelNow: [(provider, key) => provider.cancelNow(key, 'sub_1')],
  changeSubscriptionPlan: [
    (provider, key) => provider.changeSubscriptionPlan(key, 'sub_1', 'price_other', { prorate: true }),
    (provider, key) => provider.changeSubscriptionPlan(key, 'sub_1', 'price_other', { prorate: false }),
  ],
  findInvoice: [(provider) => provider.findInvoice('in_1')],
  findPayment: [(provider) => provider.findPayment('ch_1')],
};
