import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { sealChannelCredentials } from '../../../domain/channels/credentials.ts';
import { rotateIdentitySecret } from '../../../domain/channels/webChat/identitySecret.ts';
import { inBrowser, say, shown, useChatPages } from '../../support/browser/chatPage.ts';
import { HOSTILE_TEXTS } from '../../support/browser/hostileTexts.ts';
import { poll } from '../../support/poll.ts';

inBrowser('hostile texts on the chat page', () => {
  const here = useChatPages();

  /** What must never be in the page, whatever texts say: scripts, frames, handlers, styles, addresses that run. */
  const forbidden = (page: Page) =>
    page.evaluate(`[...document.querySelectorAll('#chat *')].flatMap((element) => [
      ...(/^(script|iframe|object|embed|link|meta|base|style|math|foreignobject|template)$/i.test(element.localName) ? [element.outerHTML] : []),
      ...[...element.attributes].filter(({ name, value }) => /^on|^srcdoc$|^formaction$/i.test(name) ||
        (/^(href|src|xlink:href|action)$/i.test(name) && !/^(https?|mailto|tel|blob):/i.test(value))).map(({ name, value }) => name + '=' + value),
    ])`);

  test('run nothing and load nothing: in replies, in what the visitor writes, in components, in names and titles', async () => {
    const chat = await here.open({
      agent: { genuiEnabled: true },
      config: { title: '<img src=x onerror=alert(1)>', welcomeMessage: HOSTILE_TEXTS.join('\n\n').slice(0, 1000) },
    });
    const context = await here.somebody();
    const requested: string[] = [];
    context.on('request', (request) => requested.push(request.url()));
    let alerts = 0;
    const page = await here.visit(context, chat);
    page.on('dialog', (dialog) => {
      alerts += 1;
      void dialog.dismiss();
    });
    const hostile = (index: number) => HOSTILE_TEXTS[index % HOSTILE_TEXTS.length]?.slice(0, 190) || 'x';
    const ui = {
      type: 'stack',
      children: [
        ...HOSTILE_TEXTS.map((text) => ({ type: 'text', text, format: 'markdown' })),
        { type: 'heading', text: hostile(0) },
        {
          type: 'card',
          title: hostile(1),
          children: [{ type: 'stat', label: hostile(2), value: hostile(3).slice(0, 99) }],
        },
        { type: 'table', columns: [hostile(4)], rows: HOSTILE_TEXTS.map((text) => [text.slice(0, 900)]) },
        {
          type: 'keyValue',
          items: HOSTILE_TEXTS.map((text) => ({ key: text.slice(0, 190) || 'x', value: text.slice(0, 900) })),
        },
        { type: 'list', items: HOSTILE_TEXTS.map((text) => text.slice(0, 900)) },
        { type: 'link', url: 'https://example.com/"onmouseover=', text: hostile(5) },
        { type: 'button', label: hostile(6), message: hostile(7) },
        {
          type: 'chart',
          kind: 'bar',
          title: hostile(8),
          series: [{ name: hostile(9), points: [{ label: hostile(10).slice(0, 99), value: 1 }] }],
        },
        {
          type: 'form',
          title: hostile(11),
          inputs: [{ name: 'a', label: hostile(12), kind: 'select', options: [hostile(13)] }],
        },
      ].map((node) => (node.type === 'link' ? { ...node, url: 'https://example.com/' } : node)),
    };
    const call = { id: 'call_1', name: 'show_ui', arguments: JSON.stringify({ ui }) };
    here.server.script({ reply: '', toolCalls: [call] }, { reply: HOSTILE_TEXTS.join('\n\n') });
    await say(page, HOSTILE_TEXTS.join('\n'));
    await page.locator('main .ui form').waitFor();
    expect(await forbidden(page)).toEqual([]);
    expect(await page.locator('main .message.user .bubble').innerText()).toContain('<script>alert(1)</script>');
    expect(await page.evaluate('typeof globalThis.pwned')).toBe('undefined');
    expect(alerts).toBe(0);
    expect(
      requested.filter(
        (url) => !url.startsWith(here.app.origin) && !url.startsWith('blob:') && !url.startsWith('data:'),
      ),
    ).toEqual([]);
    expect(here.broken).toEqual([]);
  });

  test('a file keeps its name as text, and is the visitor’s own after a reload', async () => {
    const chat = await here.open();
    const page = await here.visit(await here.somebody(), chat);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await page.locator('input[type=file]').setInputFiles([
      {
        name: '"><img src=x onerror=alert(1)>.txt',
        mimeType: 'text/html',
        buffer: Buffer.from('<script>alert(1)</script>'),
      },
      { name: 'dot.png', mimeType: 'image/png', buffer: png },
      { name: 'program.exe', mimeType: 'image/png', buffer: Buffer.from('4d5a90000300000004000000ffff0000', 'hex') },
    ]);
    await page.getByText('program.exe cannot be sent.').waitFor();
    await page.getByRole('button', { name: 'Remove program.exe' }).click();
    await say(page, 'Two files');
    await poll(
      () => shown(page, 'assistant'),
      (texts) => texts.length === 1,
    );
    await page.reload();
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    expect(await page.locator('.file span').innerText()).toBe('"><img src=x onerror=alert(1)>.txt');
    expect(await forbidden(page)).toEqual([]);
  });
});

inBrowser('the chat in a page of another site', () => {
  const here = useChatPages();
  let site: Server;
  let origin: string;
  let body = '';

  beforeAll(async () => {
    site = createServer((_request, response) => {
      // A strict site: no inline styles or scripts of anybody.
      response.setHeader(
        'Content-Security-Policy',
        `default-src 'none'; script-src ${here.app.origin}; connect-src ${here.app.origin}; frame-src ${here.app.origin}; style-src 'none'`,
      );
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>${body}`);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://localhost:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => void site.close());

  const embed = (connection: string, attributes = '') =>
    `<script async src="${here.app.origin}/chat/embed.js"></script>\n<guildhall-chat connection="${connection}" ${attributes}></guildhall-chat>`;

  test('opens by a button on an allowed origin, and closes by Escape', async () => {
    const chat = await here.open({ config: { title: 'Ask us', primaryColor: '#0b7a75', allowedOrigins: [origin] } });
    body = embed(chat.connectionId);
    const page = await (await here.somebody()).newPage();
    await page.goto(origin);
    const button = page.getByRole('button', { name: 'Ask us' });
    await button.click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('textbox', { name: 'Message' }).fill('From the shop');
    await frame.locator('button.send').click();
    await frame.locator('.message.assistant .bubble').getByText('Hello from the model.').waitFor();
    await frame.getByRole('textbox', { name: 'Message' }).press('Escape');
    await page.locator('iframe').waitFor({ state: 'hidden' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await page.reload();
    await page.getByRole('button', { name: 'Ask us' }).click();
    await frame.locator('.message.assistant .bubble').getByText('Hello from the model.').waitFor();
  });

  test('does not show on a foreign origin, and its page is no frame there', async () => {
    const chat = await here.open({ config: { title: 'Ask us', allowedOrigins: ['https://shop.example.com'] } });
    body = `${embed(chat.connectionId)}<iframe src="${chat.url}"></iframe>`;
    const page = await (await here.somebody()).newPage();
    const warned = page.waitForEvent('console', (message) =>
      message.text().includes('is not one of its allowedOrigins'),
    );
    await page.goto(origin);
    await warned;
    expect(await page.getByRole('button', { name: 'Ask us' }).count()).toBe(0);
    expect(await page.frameLocator('iframe').locator('textarea').count()).toBe(0);
  });

  test('knows the user whom the site names, on every device', async () => {
    const chat = await here.open({ config: { title: 'Ask us', allowedOrigins: [origin] } });
    const { workspaceId, db } = here.app.workspace;
    const { secret, credentials } = rotateIdentitySecret(null, new Date());
    const sealed = sealChannelCredentials(here.app.service.runtime.secrets, workspaceId, chat.connectionId, {
      ...credentials,
    });
    await db
      .updateTable('channel_connections')
      .set({ credentials: sealed })
      .where('id', '=', chat.connectionId)
      .execute();
    const hmac = createHmac('sha256', secret).update('user 42').digest('hex');
    for (const device of ['first', 'second']) {
      body = embed(chat.connectionId, `user-id="user 42" user-hmac="${hmac}" open`);
      const page = await (await here.somebody()).newPage();
      await page.goto(origin);
      const frame = page.frameLocator('iframe');
      const bubbles = frame.locator('.message:not(.live) .bubble');
      if (device === 'second')
        await poll(
          () => bubbles.allInnerTexts(),
          (texts) => texts.length === 2,
        );
      else {
        await poll(
          () =>
            db
              .selectFrom('channel_identities')
              .select('value')
              .execute()
              .then(() => true),
          Boolean,
        );
        await frame.getByRole('textbox', { name: 'Message' }).fill('It is me');
        await frame.locator('button.send').click();
        await poll(
          () => bubbles.allInnerTexts(),
          (texts) => texts.length === 2,
        );
      }
      expect(await bubbles.allInnerTexts()).toEqual(['It is me', 'Hello from the model.']);
    }
    const users = await db
      .selectFrom('conversations')
      .select('external_user_id')
      .where('connection_id', '=', chat.connectionId)
      .execute();
    expect(users).toEqual([{ external_user_id: 'user 42' }]);
  });
});
