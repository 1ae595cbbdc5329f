import supertest from 'supertest';
import { escapeXml } from '../../../../core/text.ts';
import { updateHubRow } from '../../../../db/queries/hubs/hubs.ts';
import { HOSTILE_TEXTS } from '../../../support/browser/hostileTexts.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { openHub } from '../../../support/hub/hubs.ts';
import { storePlan } from '../../../support/hub/storedPlans.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ hubDomain: 'hubs.test' });
  await openHub(app.database, app.workspace, 'acme', {
    name: 'Acme',
    locale: 'de-DE',
    pricing_widget_color: '#ffee00',
  });
});
afterAll(() => app.close());

const get = (path: string) => supertest(app.origin).get(path).set('Host', 'acme.hubs.test');
const clear = () =>
  app.workspace.db
    .updateTable('plans')
    .set({ status: 'inactive' })
    .where('workspace_id', '=', app.workspace.workspaceId)
    .execute();
beforeEach(clear);

test("shows the visible active plans only, the cheapest first, in the hub's language and currency style, also of a private hub", async () => {
  await storePlan(app.workspace, { name: 'Hidden', visible: false });
  await storePlan(app.workspace, { name: 'Deleted', deleted_at: new Date() });
  await storePlan(app.stranger, { name: 'Foreign' });
  const yearly = await storePlan(app.workspace, { name: 'Big', price_cents: 123_456, billing_interval_months: 12 });
  await storePlan(app.workspace, {
    name: 'Once',
    price_cents: 500,
    currency: 'JPY',
    billing_type: 'one_time',
    billing_interval_months: 0,
  });
  await storePlan(app.workspace, { name: 'Gift', price_cents: 0, credits: { extra_credits_amount: 20 } });
  await storePlan(app.workspace, {
    name: 'Thirds',
    price_cents: 900,
    billing_interval_months: 3,
    currency: 'EUR',
    unlimited_credits: true,
  });
  const { text, headers } = await get('/pricing').expect(200);
  expect([...text.matchAll(/<h2><bdi>([^<]*)/g)].map(([, name]) => name)).toEqual(['Gift', 'Once', 'Thirds', 'Big']);
  for (const part of [
    'Kostenlos',
    '500\u00a0¥',
    'einmalig',
    '9,00\u00a0€',
    'alle 3 Monate',
    '1.234,56\u00a0$',
    'pro Jahr',
    '120 Credits',
    'Unbegrenzte Credits',
    'lang="de-DE"',
    `href="/checkout/${yearly}"`,
  ])
    expect(text).toContain(part);
  expect([headers['x-frame-options'], headers['cache-control']]).toEqual(['DENY', 'no-cache']);
});

test('a plan says what its widget says: texts, highlight, what is in it and what is not', async () => {
  await storePlan(app.workspace, {
    name: 'Own name',
    widget_title: 'Pro',
    widget_description: 'For teams',
    widget_cta_text: 'Go Pro',
    widget_highlighted: true,
    widget_features: JSON.stringify([
      { text: 'Inbox', included: true },
      { text: 'Phone', included: false },
    ]),
  });
  const { text } = await get('/pricing').expect(200);
  expect(text).not.toContain('Own name');
  expect(text).toMatch(/class="card highlighted">\s*<span class="badge">Empfohlen/);
  expect(text).toMatch(/class="present"><span><span class="hidden">Enthalten: <\/span><span dir="auto">Inbox</);
  expect(text).toMatch(/class="absent"><span><span class="hidden">Nicht enthalten: <\/span><span dir="auto">Phone</);
  for (const part of ['Pro</bdi></h2>', 'For teams', '>Go Pro</bdi></a>']) expect(text).toContain(part);
});

test('the embed may be framed by any site, and nothing else may; its script and frame come from the hub', async () => {
  await storePlan(app.workspace);
  const { text, headers } = await get('/pricing/embed').expect(200);
  expect(headers['x-frame-options']).toBeUndefined();
  expect(headers['content-security-policy']).toMatch(/script-src 'self';.*frame-ancestors \*$/);
  expect(text).toContain('target="_top"');
  const [, script = ''] = /<script src="([^"]+)"/.exec(text) ?? [];
  const loaded = await get(script).expect(200);
  expect(loaded.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'cross-origin',
  });
  const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
  await get(style).expect(200).expect('Content-Type', 'text/css; charset=utf-8');
  await get('/pricing/embed.js').expect(200).expect('Cache-Control', 'public, max-age=600');
  await get('/assets/../hub.css').expect(404);
  await get('/assets/hub.css').expect(404);
});

test('whatever an agency writes is text on the page', async () => {
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    await clear();
    const cut = (max: number) => [...text].slice(0, max).join('');
    await updateHubRow(app.workspace.db, app.workspace.workspaceId, {
      name: cut(150),
      support_channel_type: 'url',
      support_channel_value: cut(500),
      updated_at: new Date(),
    });
    await storePlan(app.workspace, {
      name: `${cut(90)} ${index}`,
      widget_title: cut(50),
      widget_description: cut(100),
      widget_cta_text: cut(30),
      widget_features: JSON.stringify([{ text, included: true }]),
    });
    const page = (await get('/pricing/embed').expect(200)).text + (await get('/pricing').expect(200)).text;
    expect(page).toContain(escapeXml(text));
    // Every tag of the page is one of the templates.
    const tags = new Set([...page.matchAll(/<\/?([a-z!][^\s/>]*)/gi)].map(([, tag]) => tag));
    for (const tag of tags) expect(ALLOWED).toContain(tag);
    expect(page).not.toMatch(/\son\w+="/);
    expect(page).not.toMatch(/(?:href|src)="(?!\/|https?:\/\/|#main)/);
  }
});

const ALLOWED = [
  '!doctype',
  'html',
  'head',
  'meta',
  'title',
  'link',
  'style',
  'script',
  'body',
  'header',
  'main',
  'footer',
  'a',
  'bdi',
  'h1',
  'h2',
  'p',
  'ul',
  'li',
  'span',
  'strong',
];

test('the thank-you page says what happens next, and shows nothing that its address says', async () => {
  for (const [kind, part] of [
    ['invoice', 'Rechnung'],
    ['free', 'bereit'],
    ['paid', 'bestätigt'],
    ['"><b>', 'bestätigt'],
  ] as const) {
    const { text } = await get(`/thank-you?kind=${encodeURIComponent(kind)}&session_id=cs_test_1`).expect(200);
    expect(text).toContain(part);
    expect(text).not.toContain('<b>');
    expect(text).not.toContain('cs_test_1');
  }
});
