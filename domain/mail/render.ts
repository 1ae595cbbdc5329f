import { shorten } from '../../core/text.ts';
import { formatPrice } from '../billing/money.ts';
import { layout } from './layout.ts';
import type { InvitationMail, InvoiceRequestMail, MailData, MailKind, SignInMail } from './mailData.ts';

/** What a mail shows of its hub. */
export interface MailHub {
  name: string;
  /** Absolute address of the logo for mails. */
  logoUrl: string | null;
  /** BCP 47: how prices and dates are written. */
  locale: string;
  timeZone: string;
  theme: 'light' | 'dark';
  color: string | null;
  supportEmail: string | null;
}

/** A mail of a kind, with the name of its recipient. */
export interface MailToRender {
  kind: MailKind;
  data: MailData[MailKind];
  recipientName: string | null;
}

/** A mail as it is sent. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** What a mail says, before it has a form. */
export interface MailWording {
  subject: string;
  /** What lists of mails show after the subject. */
  preheader: string;
  heading: string;
  paragraphs: string[];
  /** Names and values, such as a plan and its price. */
  facts: [string, string][];
  action: { label: string; url: string } | null;
  /** In small letters, at the end. */
  note: string;
}

/** Longer names are cut in subjects. */
const MAX_SUBJECT_NAME = 80;

/** The mail in the brand of its hub. Its texts are English; dates and prices are written as the hub's locale says. */
export function renderMail({ kind, data, recipientName }: MailToRender, hub: MailHub): RenderedMail {
  const wording = wordingOf(kind, data, hub);
  const greeting = recipientName?.trim() ? `Hello ${recipientName.trim()},` : 'Hello,';
  return {
    subject: wording.subject,
    text: textOf(wording, greeting, hub),
    html: layout(wording, greeting, hub).toString(),
  };
}

function wordingOf(kind: MailKind, data: MailData[MailKind], hub: MailHub): MailWording {
  if (kind === 'invitation') return invitation(data as InvitationMail, hub);
  if (kind === 'sign_in') return signIn(data as SignInMail, hub);
  return invoiceRequest(data as InvoiceRequestMail, hub);
}

function invitation({ clientName, url, expiresAt }: InvitationMail, hub: MailHub): MailWording {
  return {
    subject: `You are invited to ${shorten(clientName, MAX_SUBJECT_NAME)}`,
    preheader: `Accept the invitation to ${hub.name}.`,
    heading: 'You are invited',
    paragraphs: [`You are invited to use ${hub.name} as a member of ${clientName}.`],
    facts: [],
    action: { label: 'Accept the invitation', url },
    note: `The link works once, until ${dateOf(expiresAt, hub)}. If you did not expect this invitation, you can ignore this mail.`,
  };
}

function signIn({ url, expiresAt }: SignInMail, hub: MailHub): MailWording {
  return {
    subject: `Sign in to ${shorten(hub.name, MAX_SUBJECT_NAME)}`,
    preheader: 'Your link to sign in works once.',
    heading: 'Your link to sign in',
    paragraphs: [`With this link you sign in to ${hub.name}.`],
    facts: [],
    action: { label: 'Sign in', url },
    note: `The link works once, until ${dateOf(expiresAt, hub)}. If you did not ask for it, you can ignore this mail: nobody signs in without the link.`,
  };
}

function invoiceRequest(data: InvoiceRequestMail, hub: MailHub): MailWording {
  const { clientName, planName, priceCents, currency, billingIntervalMonths, couponCode } = data;
  const price = `${formatPrice(priceCents, currency, hub.locale)}${intervalOf(billingIntervalMonths)}`;
  return {
    subject: `We received your request for ${shorten(planName, MAX_SUBJECT_NAME)}`,
    preheader: `${planName} for ${clientName}: ${price}.`,
    heading: 'We received your request',
    paragraphs: [
      `Thank you for your interest in ${planName}. ${hub.name} will send you an invoice and open your workspace.`,
      'Nothing was bought or charged yet.',
    ],
    facts: [
      ['Plan', planName],
      ['Workspace', clientName],
      ['Price', price],
      ...(couponCode === undefined ? [] : [['Coupon', couponCode] satisfies [string, string]]),
    ],
    action: null,
    note: 'If you did not ask for this, you can ignore this mail.',
  };
}

function intervalOf(months: number | null): string {
  if (!months) return '';
  if (months === 1) return ' a month';
  return months === 12 ? ' a year' : ` every ${months} months`;
}

function dateOf(iso: string, { locale, timeZone }: MailHub): string {
  const options = {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  } as const;
  try {
    return new Intl.DateTimeFormat(locale, options).format(new Date(iso));
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' }).format(new Date(iso));
  }
}

function textOf(wording: MailWording, greeting: string, { name, supportEmail }: MailHub): string {
  const { paragraphs, facts, action, note } = wording;
  return [
    greeting,
    ...paragraphs,
    ...(facts.length > 0 ? [facts.map(([label, value]) => `${label}: ${value}`).join('\n')] : []),
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    note,
    [name, ...(supportEmail === null ? [] : [supportEmail])].join('\n'),
    '',
  ].join('\n\n');
}
