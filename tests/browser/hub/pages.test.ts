import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { systemClock } from '../../../core/clock.ts';
import { updateHubRow } from '../../../db/queries/hubs/hubs.ts';
import { newToken } from '../../../domain/hubs/sessions.ts';
import { violations } from '../../support/browser/axe.ts';
import { installedBrowser, startBrowser } from '../../support/browser/browser.ts';
import { inBrowser } from '../../support/browser/chatPage.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeClient } from '../../support/hub/clients.ts';
import { openHub } from '../../support/hub/hubs.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const DESKTOP = { viewport: { width: 1280, height: 860 } };
/** A folder for pictures of the pages, for people who want to look at them. */
const SHOTS = process.env.HUB_SHOTS;

let app: TestApp;
let team: string;
let browser: Browser;
let agency: Server;
const contexts: BrowserContext[] = [];
const broken: string[] = [];

inBrowser('the pages of a hub', () => {
  beforeAll(async () => {
    app = await startTestApp({ clock: systemClock });
    browser = await startBrowser(installedBrowser() ?? '');
    await openHub(app.database, app.workspace, 'acme', { name: 'Harbour Agents', support_email: 'help@example.com' });
    await storePlan(app.workspace, { name: 'Starter', price_cents: 0, widget_description: 'To look around' });
    team = await storePlan(app.workspace, {
      name: 'Team',
      widget_highlighted: true,
      widget_features: JSON.stringify([
        { text: 'All agents', included: true },
        { text: 'Inbox for the whole team, with everybody’s conversations', included: true },
        { text: 'Help by phone', included: false },
      ]),
    });
    await storePlan(app.workspace, { name: 'Company', price_cents: 49_900, billing_interval_months: 12 });
    agency = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(
        `<!doctype html><title>Agency</title><body><script async src="${app.origin}/hub/acme/pricing/embed.js"></script>`,
      );
    });
    await new Promise<void>((resolve) => agency.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    broken.length = 0;
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    agency?.close();
    await browser?.close();
    await app?.close();
  });

  const url = (path: string) => `${app.origin}/hub/acme${path}`;

  async function newPage(options: BrowserContextOptions = DESKTOP): Promise<Page> {
    const context = await browser.newContext(options);
    contexts.push(context);
    context.on('console', (message) => {
      if (/Content.Security.Policy|Trusted/i.test(message.text())) broken.push(message.text());
    });
    return context.newPage();
  }

  async function linkOf(kind: 'invitation' | 'sign_in'): Promise<string> {
    const { userId } = await makeClient(app.database, app.workspace, { name: `Nova ${Date.now()}` });
    const { workspaceId } = app.workspace;
    const { token } = await newToken(app.workspace.db, { workspaceId, userId, kind, now: new Date() });
    return url(kind === 'invitation' ? `/accept/${token}` : `/sign-in/${token}`);
  }

  const looks = [
    ['light on a desktop', DESKTOP, { theme: 'light', primary_color: '#ffe600', locale: 'en-US' }],
    [
      'dark on a phone',
      PHONE,
      { theme: 'dark', primary_color: '#1b1d22', secondary_color: '#ff5500', locale: 'de-DE' },
    ],
    ['from right to left on a phone', PHONE, { theme: 'light', primary_color: '#7744cc', locale: 'ar-EG' }],
  ] as const;

  test.each(looks)(
    'can be used by everybody, %s: without script from the invitation to signing out, and axe finds nothing',
    async (what, device, look) => {
      await updateHubRow(app.workspace.db, app.workspace.workspaceId, {
        secondary_color: null,
        ...look,
        updated_at: new Date(),
      });
      const page = await newPage({ ...device, javaScriptEnabled: false });
      const note = async (name: string) => {
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/${what.split(' ')[0]}-${name}.png`, fullPage: true });
      };
      await page.goto(await linkOf('invitation'));
      await note('accept');
      await page.locator('form button').click();
      expect(page.url()).toBe(url('/'));
      await note('home');
      await page.locator('header button').click();
      expect(page.url()).toBe(url('/sign-in'));
      await page.locator('input[name=email]').fill('nobody');
      await page.locator('main button').click();
      await note('sign-in');
      await page.locator('input[name=email]').fill('nobody@example.com');
      await page.locator('main button').click();
      await note('sent');
      await page.goto(url('/pricing'));
      await note('pricing');
      await page.locator(`a[href$="${team}"]`).click();
      await page.locator('main button').click();
      await note('checkout-wrong');
      await page.locator('[name=email]').fill('ada@example.com');
      await page.locator('[name=name]').fill('Ada');
      await page.locator('[name=workspaceName]').fill(`Nova ${what}`);
      await page.locator('main button').click();
      expect(page.url()).toBe(url('/thank-you?kind=invoice'));
      await note('thanks');
      await page.goto(url('/accept/none'));
      await note('link');
      await page.goto(url('/nothing'));
      await note('nothing');
      // axe is a script, so it looks at the pages that can be opened again, and at a link and a session of its own.
      const scripted = await newPage(device);
      const own = await linkOf('sign_in');
      for (const address of [
        own,
        ...(device === DESKTOP ? [url('/pricing/embed'), url('/thank-you'), url('/nothing')] : []),
        url('/pricing'),
      ]) {
        await scripted.goto(address);
        expect([address, await violations(scripted)]).toEqual([address, []]);
        const width = await scripted.evaluate<number>('document.documentElement.scrollWidth');
        expect([address, width]).toEqual([address, device.viewport.width]);
      }
      await scripted.goto(url('/sign-in'));
      await scripted.locator('input[name=email]').fill('nobody');
      await scripted.locator('main button').click();
      expect(await violations(scripted)).toEqual([]);
      await scripted.goto(url(`/checkout/${team}`));
      await scripted.locator('main button').click();
      expect(await violations(scripted)).toEqual([]);
      await scripted.goto(own);
      await scripted.locator('form button').click();
      expect(await violations(scripted)).toEqual([]);
      expect(await scripted.evaluate('document.documentElement.dir')).toBe(look.locale === 'ar-EG' ? 'rtl' : 'ltr');
      expect(broken).toEqual([]);
    },
  );

  test('the prices are embedded in a page of another site, as high as they are, and their button opens the checkout there', async () => {
    const page = await newPage();
    await page.goto(`http://127.0.0.1:${(agency.address() as AddressInfo).port}/`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Team' }).waitFor();
    const inner = await frame.locator('body').evaluate((body) => body.scrollHeight);
    await page.waitForFunction(`document.querySelector('iframe').clientHeight === ${inner}`);
    await frame.locator('.highlighted a.button').click();
    await page.waitForURL(/\/hub\/acme\/checkout\/[0-9a-f-]{36}$/);
    // No other page of the hub can be framed.
    const blocked = await page.goto(url('/sign-in'));
    expect(blocked?.headers()['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(broken).toEqual([]);
  });
});
