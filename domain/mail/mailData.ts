/** What an invitation says: the person may use a client of the hub as soon as the link was followed. */
export interface InvitationMail {
  /** The client: the name of its workspace. */
  clientName: string;
  /** Works once. A secret. */
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** What the mail of a link to sign in says. */
export interface SignInMail {
  /** Works once. A secret. */
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** The receipt of a request to buy a plan by invoice: the agency was asked, and nothing was bought yet. */
export interface InvoiceRequestMail {
  /** The client that was asked for: the name of its workspace. */
  clientName: string;
  planName: string;
  /** The price of a period in the smallest unit of the currency, after a coupon. */
  priceCents: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** The length of a period; null = the plan is paid once. */
  billingIntervalMonths: number | null;
  /** The coupon that the price is after, if there is one. */
  couponCode?: string;
}

/** What each kind of mail says. */
export interface MailData {
  invitation: InvitationMail;
  sign_in: SignInMail;
  invoice_request: InvoiceRequestMail;
}

/** A kind of mail. */
export type MailKind = keyof MailData;
