import { contrast } from '../../core/colors.ts';
import type { MailData, MailKind } from '../../domain/mail/mailData.ts';
import { type MailHub, renderMail } from '../../domain/mail/render.ts';

const hub: MailHub = {
  name: 'Analytical Engines',
  logoUrl: 'https://agents.example.com/files/logo.png',
  locale: 'de-DE',
  timeZone: 'Europe/Berlin',
  theme: 'light',
  color: '#0f766e',
  supportEmail: 'help@example.com',
};
const expiresAt = '2026-03-01T17:30:00.000Z';
const data: { [Kind in MailKind]: MailData[Kind] } = {
  invitation: { clientName: 'Lovelace Ltd', url: 'https://hub.example.com/accept/abc', expiresAt },
  sign_in: { url: 'https://hub.example.com/sign-in/abc', expiresAt },
  invoice_request: {
    clientName: 'Lovelace Ltd',
    planName: 'Pro',
    priceCents: 4900,
    currency: 'EUR',
    billingIntervalMonths: 1,
    couponCode: 'SPRING',
  },
};
const render = (kind: MailKind, look: Partial<MailHub> = {}, over: object = {}, recipientName: string | null = 'Ada') =>
  renderMail({ kind, data: { ...data[kind], ...over }, recipientName }, { ...hub, ...look });

test.each(['invitation', 'sign_in'] as const)(
  '%s: text and HTML say the same, with the link and when it ends',
  (kind) => {
    const { text, html } = render(kind);
    const { url } = data[kind];
    for (const part of [text, html]) {
      expect(part).toContain('Hello Ada,');
      expect(part).toContain(url);
      expect(part).toContain('1. März 2026 um 18:30 MEZ');
    }
    expect(html).toContain(`src="${hub.logoUrl}" alt="Analytical Engines"`);
  },
);

test('a request for an invoice has the price in the locale of the hub and its coupon', () => {
  const { subject, text, html } = render('invoice_request');
  expect(subject).toBe('We received your request for Pro');
  for (const part of [text, html]) {
    expect(part).toContain('49,00\u00a0€ a month');
    expect(part).toContain('SPRING');
    expect(part).toContain('Nothing was bought');
  }
});

test('whatever a name contains is text, and a locale or a zone that does not exist is none', () => {
  const name = '"><script>alert(1)</script>&<img src=x onerror=alert(1)>';
  const { html } = render('invitation', { name, locale: 'x', timeZone: 'Nowhere/Never' }, { clientName: name }, name);
  expect(html).not.toMatch(/<script|<img src=x/);
  expect(html).toContain('March 1, 2026');
});

test('a logo that mail programs do not show is left out for the name', () => {
  expect(render('sign_in', { logoUrl: 'https://agents.example.com/files/logo.svg' }).html).not.toContain('<img');
});

test.each(['light', 'dark'] as const)(
  'in a hub with a %s theme every text can be read, whatever the colour of the hub',
  (theme) => {
    for (const color of [null, '#ffffff', '#000000', '#ffff00', '#7f7f7f', '#1b1e26', 'red']) {
      const { html } = render('invitation', { theme, color });
      const link = html.match(/bgcolor="(#\w{6})" style="[^"]*border-radius: 8px.*?<a [^>]*color: (#\w{6})/s);
      expect(contrast(link?.[1] ?? '', link?.[2] ?? '')).toBeGreaterThanOrEqual(4.5);
      const card = html.match(/bgcolor="(#\w{6})" style="[^"]*border-radius: 12px/)?.[1] ?? '';
      const page = html.match(/background-color: (#\w{6})/)?.[1] ?? '';
      for (const [, ink = ''] of html.matchAll(/<(?:h1|p|th) [^>]*color: (#\w{6})/g))
        for (const ground of [card, page]) expect(contrast(ink, ground)).toBeGreaterThanOrEqual(4.5);
    }
  },
);

test('a long name neither fills the subject nor breaks the mail', () => {
  const { subject, html } = render('invitation', {}, { clientName: 'x'.repeat(150) });
  expect(subject.length).toBeLessThan(120);
  expect(html).toContain('x'.repeat(150));
});
