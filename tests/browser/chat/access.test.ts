import type { BrowserContextOptions, Page } from 'playwright-core';
import { violations } from '../../support/browser/axe.ts';
import { inBrowser, say, shown, useChatPages } from '../../support/browser/chatPage.ts';
import { EVERY_COMPONENT } from '../../support/browser/components.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply } from '../../support/servers/modelServer.ts';

const MARKDOWN =
  '# Title\n\nA **bold** [link](https://example.com) and `code`.\n\n- one\n- two\n\n```js\nlet x;\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n- [x] done\n\n> quoted';
const SHOW_UI = { id: 'call_1', name: 'show_ui', arguments: JSON.stringify({ ui: EVERY_COMPONENT }) };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

inBrowser('everybody can use the chat page:', () => {
  const here = useChatPages();

  /** A page with all that it can show. */
  async function fullPage(options: BrowserContextOptions, config: object = {}): Promise<Page> {
    const chat = await here.open({
      agent: { genuiEnabled: true },
      config: { title: 'Harbour Bikes', welcomeMessage: 'Welcome!', ...config },
    });
    const page = await here.visit(await here.somebody(options), chat);
    here.server.script({ reply: 'I show it.', toolCalls: [SHOW_UI] }, { reply: MARKDOWN });
    await say(page, 'Show me');
    await page.locator('main .ui form').waitFor();
    await page.locator('main .message.assistant time').last().waitFor();
    return page;
  }

  const looks: [string, BrowserContextOptions, object?][] = [
    ['light', {}, {}],
    ['dark', { colorScheme: 'dark' }, {}],
    ['a phone', PHONE, {}],
    ['right to left', { locale: 'ar', ...PHONE }, {}],
    ['a very light brand', {}, { primaryColor: '#ffffaa' }],
    ['a very light brand in the dark', { colorScheme: 'dark' }, { primaryColor: '#ffffaa' }],
    ['a very dark brand in the dark', { colorScheme: 'dark' }, { primaryColor: '#000011' }],
    ['a brand between', {}, { primaryColor: '#808080' }],
  ];

  test.each(looks)('axe finds nothing: %s', async (_what, options, config) => {
    const page = await fullPage(options, config);
    expect(await violations(page)).toEqual([]);
    const width = options.viewport?.width ?? 1280;
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(here.broken).toEqual([]);
  });

  test('axe finds something when there is something', async () => {
    const page = await fullPage({});
    for (const name of ['aria-label', 'placeholder'])
      await page.evaluate(`document.querySelector('footer textarea').removeAttribute('${name}')`);
    expect((await violations(page)).join()).toContain('label: ');
  });

  test.each([
    ['de-AT', 'de', 'ltr', 'Nachricht'],
    ['ar-EG', 'ar', 'rtl', 'رسالة'],
    ['pt-BR', 'pt', 'ltr', 'Mensagem'],
    ['fr', 'fr', 'ltr', 'Message'],
    ['es-MX', 'es', 'ltr', 'Mensaje'],
    ['xx', 'en', 'ltr', 'Message'],
  ])('it speaks the language of the browser: %s', async (locale, language, direction, label) => {
    const chat = await here.open();
    const page = await here.visit(await here.somebody({ locale }), chat);
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
      language,
      direction,
    ]);
    await page.getByRole('textbox', { name: label }).waitFor();
  });

  test('a screen reader hears a reply when it is whole, and not its pieces', async () => {
    const chat = await here.open({ config: { title: 'Bikes' } });
    const page = await here.visit(await here.somebody(), chat);
    await page.evaluate(`globalThis.heard = []; new MutationObserver(() =>
        heard.push(document.querySelector('[aria-live]').textContent)).observe(document.querySelector('[aria-live]'), { childList: true, characterData: true, subtree: true })`);
    const gate = gatedReply();
    here.server.script({ reply: gate.chunks });
    await say(page, 'Hi');
    await here.server.received(1);
    for (const piece of ['One ', 'two ', 'three.']) {
      gate.push(piece);
      await page.locator('.message.live').getByText(piece.trim()).waitFor();
    }
    gate.end();
    const heard = await poll(
      () => page.evaluate('heard'),
      (all) => (all as string[]).at(-1) === 'Bikes: One two three.',
    );
    expect((heard as string[]).filter((each) => each !== '')).toEqual(['Bikes is writing…', 'Bikes: One two three.']);
    expect(await page.locator('.message.live').count()).toBe(0);
    await page.reload();
    await poll(
      () => shown(page),
      (texts) => texts.length === 2,
    );
    expect(await page.locator('[aria-live="polite"][role="log"]').textContent()).toBe('');
  });

  test('it works with a keyboard alone', async () => {
    const page = await fullPage({});
    const { keyboard } = page;
    const focused = () =>
      page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent');
    await page.locator('footer textarea').focus();
    await keyboard.type('first line');
    await keyboard.press('Shift+Enter');
    await keyboard.type('second line');
    await keyboard.press('Enter');
    await poll(
      () => shown(page, 'user'),
      (texts) => texts.at(-1) === 'first line\nsecond line',
    );
    await poll(
      () => shown(page, 'assistant'),
      (texts) => texts.length === 3,
    );
    expect(await focused()).toBe('Message');
    // Everything that can be pressed can be reached.
    await page.locator('header button').first().focus();
    const reached: unknown[] = [];
    for (let presses = 0; presses < 12 && reached.at(-1) !== 'Message'; presses += 1) {
      await keyboard.press('Tab');
      reached.push(await focused());
    }
    expect(reached).toEqual(expect.arrayContaining(['Conversation', 'Attach a file', 'Message']));
  });

  test('a form and a button send the next message, once', async () => {
    const page = await fullPage({});
    const form = page.locator('main .ui form');
    await form.getByRole('button').click();
    expect(await shown(page, 'user')).toHaveLength(1);
    await form.getByLabel('Name').fill('Ada');
    await form.getByLabel('Size').selectOption('M');
    await form.getByLabel('I agree').check();
    here.server.script({ reply: 'Again.', toolCalls: [SHOW_UI] }, { reply: 'Booked.' });
    await form.getByRole('button').click();
    await poll(
      () => shown(page, 'user'),
      (texts) => texts.at(-1)?.startsWith('Name: Ada\n') === true,
    );
    expect((await shown(page, 'user')).at(-1)).toContain('Size: M\nI agree: yes');
    await page.locator('main .ui form').nth(1).waitFor();
    await page.getByRole('button', { name: 'Opening hours' }).last().click();
    await poll(
      () => shown(page, 'user'),
      (texts) => texts.at(-1) === 'When are you open?',
    );
    expect(await page.getByRole('button', { name: 'Opening hours' }).first().isDisabled()).toBe(true);
  });
});
