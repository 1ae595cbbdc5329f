/** A plan as the provider mirrors it: a product, its price and a payment link. */
export interface MirroredPlan {
  /** The public id. */
  id: string;
  name: string;
  description: string | null;
  /** In the smallest unit of the currency, which has `currencyDigits` decimals. */
  priceCents: number;
  currency: string;
  currencyDigits: number;
  /** Months between two payments; null for a plan that is paid once. */
  intervalMonths: number | null;
  /** Whether it can be bought. */
  isActive: boolean;
  /** Where a buyer comes back to from the payment link; null without a hub address. */
  returnUrl: string | null;
}

/** The provider's objects of a plan. */
export interface PlanObjects {
  productId: string;
  priceId: string;
  paymentLinkId: string;
  paymentLinkUrl: string;
}

/** A coupon as the provider mirrors it. */
export interface MirroredCoupon {
  id: string;
  code: string;
  name: string | null;
  isActive: boolean;
  discount: { percent: number } | { amountCents: number; currency: string; currencyDigits: number };
  duration: 'once' | 'repeating' | 'forever';
  durationMonths: number | null;
  /** The products of the plans that it is for; null for every plan. */
  productIds: readonly string[] | null;
  maxUses: number | null;
  validUntil: Date | null;
}

/** The provider's objects of a coupon. */
export interface CouponObjects {
  couponId: string;
  promotionCodeId: string;
}

/** How a hub looks on the provider's pages. */
export interface Branding {
  name: string;
  primaryColor: string | null;
  secondaryColor: string | null;
  icon: BrandingImage | null;
  logo: BrandingImage | null;
}

/** A logo of the hub. */
export interface BrandingImage {
  data: Buffer;
  type: 'image/png' | 'image/jpeg';
}

/** What a buyer pays on a page of the provider. */
export interface CheckoutRequest {
  /** Of our row of `checkouts`. */
  checkoutId: string;
  workspaceId: string;
  email: string;
  /** The customer at the provider, for a buyer who has one. */
  customerId: string | null;
  item:
    | { kind: 'recurring'; priceId: string }
    | { kind: 'one_time'; priceId: string }
    | { kind: 'extra_credits'; name: string; amountCents: number; currency: string; currencyDigits: number };
  /** What is paid in the end, after the coupon: the application fee of a single payment is a part of it. */
  totalCents: number;
  currency: string;
  currencyDigits: number;
  couponId: string | null;
  successUrl: string;
  cancelUrl: string;
  /** How the page looks. */
  brand: { name: string; color: string | null };
  expiresAt: Date;
}

/** A page of the provider on which a buyer pays. */
export interface CheckoutPage {
  sessionId: string;
  url: string;
}

/** What became of a checkout page. */
export interface CheckoutState {
  sessionId: string;
  /** Null while the page is open or expired. */
  url: string | null;
  status: 'open' | 'complete' | 'expired';
  isPaid: boolean;
  checkoutId: string | null;
  customerId: string | null;
  subscriptionId: string | null;
  /** What paid for a single payment. */
  paymentId: string | null;
}

/** A subscription as it is at the provider now. */
export interface SubscriptionState {
  id: string;
  customerId: string;
  status: 'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'canceled' | 'unpaid' | 'paused';
  priceId: string | null;
  /** The period that it is in. */
  periodStart: Date;
  periodEnd: Date;
  cancelAtPeriodEnd: boolean;
  /** Whether payments are not collected for now. */
  isPaused: boolean;
  /** Our checkout that began it. */
  checkoutId: string | null;
  latestInvoice: { id: string; isPaid: boolean } | null;
  createdAt: Date;
}

/** An invoice of a subscription as it is at the provider now. */
export interface InvoiceState {
  id: string;
  subscriptionId: string | null;
  isPaid: boolean;
  /** Whether it begins a period: the first one, or a renewal. One of a change in the middle of a period does not. */
  beginsPeriod: boolean;
  /** The latest period that it is paid for; null when its lines name none. */
  period: { start: Date; end: Date } | null;
}

/** A payment, and what was taken back of it. */
export interface PaymentState {
  chargeId: string;
  /** In the provider's unit of the currency, as are the others. */
  amount: number;
  refunded: number;
  /** What disputes hold back now: those that are open or lost. */
  disputed: number;
  /** What was paid: an invoice, or a checkout of one payment. */
  paidFor: { invoiceId: string; subscriptionId: string | null } | { checkoutId: string } | null;
}

/** Why a call of the provider failed. */
export type PaymentFailure =
  /** The provider said no: the request is wrong, or may not be made. Nothing was made. */
  | 'refused'
  /** There is no such object. */
  | 'missing'
  /** The key does not work, or may not act for the account. */
  | 'denied'
  /** No answer came, or an error of the provider's own. It may have been made. */
  | 'unknown';

/** The provider failed. Its message has no secret. */
export class PaymentProviderError extends Error {
  readonly failure: PaymentFailure;
  /** The provider's own word for it, such as `resource_missing`. */
  readonly code: string | undefined;

  constructor(failure: PaymentFailure, message: string, options: { code?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'PaymentProviderError';
    this.failure = failure;
    this.code = options.code;
  }
}

/**
 * The provider of one hub: every call is made for its account. Each one has a deadline, is tried again a few times when that is safe,
 * and throws PaymentProviderError. `key` is the intent that the call belongs to: calls with one key have one effect, and what they make
 * is found again by it.
 */
export interface PaymentProvider {
  /** Makes the objects of a plan. What it made before a failure is left to `undoPlan`. */
  createPlan(key: string, plan: MirroredPlan): Promise<PlanObjects>;
  /**
   * Brings the objects to what the plan is now: name, description, whether it can be bought. With another price than the present one it
   * makes a price and a payment link anew, and archives the earlier ones.
   */
  changePlan(key: string, ids: PlanObjects, plan: MirroredPlan): Promise<PlanObjects>;
  /** Brings the objects to these fields, whatever was changed of them since. Neither price nor link is made anew. */
  restorePlan(
    key: string,
    ids: Omit<PlanObjects, 'paymentLinkUrl'>,
    plan: Pick<MirroredPlan, 'name' | 'description' | 'isActive'>,
  ): Promise<void>;
  /** Archives product, price and link: nobody can buy it there any more. Subscriptions go on. Objects that are gone count as archived. */
  archivePlan(key: string, ids: Omit<PlanObjects, 'paymentLinkUrl'>): Promise<void>;
  /** Makes the payment link anew. The earlier one stops working. */
  replacePaymentLink(
    key: string,
    ids: PlanObjects,
    plan: MirroredPlan,
  ): Promise<Pick<PlanObjects, 'paymentLinkId' | 'paymentLinkUrl'>>;
  /** Removes or archives what calls with this key made for a plan, except the objects in `keep`. */
  undoPlan(key: string, since: Date, keep: readonly string[]): Promise<void>;

  /** Makes a coupon and its promotion code. What it made before a failure is left to `undoCoupon`. */
  createCoupon(key: string, coupon: MirroredCoupon): Promise<CouponObjects>;
  /** Lets the promotion code work or not. */
  setCouponActive(key: string, promotionCodeId: string, isActive: boolean): Promise<void>;
  /** Ends promotion code and coupon. Discounts that were given stay. Objects that are gone count as deleted. */
  deleteCoupon(key: string, ids: CouponObjects): Promise<void>;
  /** Removes what `createCoupon` made with this key. */
  undoCoupon(key: string): Promise<void>;

  /** Shows the hub's brand on the account's pages and receipts. Does nothing in mode `own`: no one may change an own account by the API. */
  syncBranding(key: string, branding: Branding): Promise<void>;

  createCheckout(key: string, request: CheckoutRequest): Promise<CheckoutPage>;
  findCheckout(sessionId: string): Promise<CheckoutState | undefined>;
  /** The page of the single payment or the subscription. */
  findCheckoutOf(paid: { paymentId: string } | { subscriptionId: string }): Promise<CheckoutState | undefined>;
  /** Closes an open page. Returns what became of it, for one that was paid meanwhile. */
  expireCheckout(key: string, sessionId: string): Promise<CheckoutState | undefined>;

  findSubscription(id: string): Promise<SubscriptionState | undefined>;
  /** A page of subscriptions that are not ended, newest first. `after` is the last one of the page before. */
  listSubscriptions(after?: string): Promise<{ subscriptions: SubscriptionState[]; hasMore: boolean }>;
  cancelAtPeriodEnd(key: string, subscriptionId: string): Promise<void>;
  /** Takes back a cancellation at the period's end, and collects again what is paused. */
  resume(key: string, subscriptionId: string): Promise<void>;
  /** Ends a subscription now. */
  cancelNow(key: string, subscriptionId: string): Promise<void>;
  /** With `prorate` the rest of the period is charged or credited at once; without, the next invoice has the other price. */
  changeSubscriptionPlan(
    key: string,
    subscriptionId: string,
    priceId: string,
    options: { prorate: boolean },
  ): Promise<SubscriptionState>;

  findInvoice(id: string): Promise<InvoiceState | undefined>;
  findPayment(chargeId: string): Promise<PaymentState | undefined>;
}
