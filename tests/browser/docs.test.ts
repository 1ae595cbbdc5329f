import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { referenceFragment } from '../../clients/cli/open/address.ts';
import { BUILTIN_MODEL } from '../../runtime/models/catalogue.ts';
import { publishedAgent } from '../http/messages/turns.ts';
import { installedBrowser, startBrowser } from '../support/browser/browser.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { PATIENCE_MS, poll } from '../support/poll.ts';

/*
 * The API reference in a real Chromium. Where none is installed these tests are skipped, which the run says; `.ci/run` installs one
 * if it can.
 */
const executable = installedBrowser();
if (!executable) process.stderr.write('SKIPPED tests/browser: no chromium or google-chrome is installed.\n');
const inBrowser = executable ? describe : describe.skip;

/** Scalar's parser looks whether it may compile functions, and does without where it may not. */
const PROBE = 'script-src eval';

inBrowser('/docs in a browser', () => {
  let app: TestApp;
  let browser: Browser | undefined;
  let context: BrowserContext;
  let page: Page;
  let agentId: string;
  /** The address of every request that the page made. */
  const requested: string[] = [];
  /** Errors of its scripts. */
  const broken: string[] = [];

  /** What the search finds, best first. */
  async function search(text: string): Promise<Locator> {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').locator('input').first().fill(text);
    return page.getByRole('option');
  }

  /** Opens the form that sends a request of the operation, and puts the key in. */
  async function form(operationId: string, request: string): Promise<Locator> {
    const found = await search(operationId);
    await found.first().click();
    await page.getByRole('button', { name: `Test Request (${request})` }).click();
    const dialog = page.getByRole('dialog', { name: 'API Client' });
    await dialog.locator('.scalar-password-input').fill(app.workspace.apiKey);
    return dialog;
  }

  const send = (dialog: Locator) =>
    dialog
      .getByRole('button', { name: /^Send .*request to/ })
      .first()
      .click();

  beforeAll(async () => {
    app = await startTestApp();
    agentId = await publishedAgent(app, { aiModelPublicId: BUILTIN_MODEL.publicId });
    browser = await startBrowser(executable ?? '');
    context = await browser.newContext({ colorScheme: 'light', viewport: { width: 1440, height: 900 } });
    context.on('request', (request) => requested.push(request.url()));
    const content = `globalThis.stopped = [];
      addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
        stopped.push(effectiveDirective + ' ' + blockedURI));`;
    await context.addInitScript({ content });
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => broken.push(error.message));
    await page.goto(`${app.origin}/docs`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await app.close();
  });

  test('shows the groups of tags', async () => {
    const sidebar = page.getByRole('complementary').first();
    for (const group of ['Agents', 'Skills and knowledge', 'Tools and delegation', 'Conversations', 'Hub'])
      await sidebar.getByText(group, { exact: true }).first().waitFor();
  });

  test.each([
    ['an operation by its id', 'streamMessage', 'Send a message to an agent and stream the reply'],
    ['an operation by its words', 'publish an agent', 'Publish'],
    ['a field of a body', 'authHeaderName', 'Register an external MCP server'],
    ['a schema', 'KnowledgeSourceLink', 'Schemas: KnowledgeSourceLink'],
  ])('finds %s', async (_what, text, expected) => {
    const found = await search(text);
    await found.filter({ hasText: expected }).first().waitFor();
  });

  test('is opened at an operation by the address that `guildhall open` prints', async () => {
    const fragment = referenceFragment(['agents', 'chat']);
    await page.goto(`${app.origin}/docs#${fragment}`);
    await page.reload();
    const section = page.locator(`[id$="${fragment}"]`);
    await section.waitFor();
    await poll(
      async () => (await section.boundingBox())?.y ?? Number.NaN,
      (y) => y > -100 && y < 400,
    );
    await page.goto(`${app.origin}/docs`);
  });

  test('marks no operation that this release serves', async () => {
    const found = await search('getHub');
    await found.first().click();
    const section = page.locator('section', { hasText: 'Get the hub' });
    await section.first().waitFor();
    expect(await section.getByText('Not served yet').count()).toBe(0);
  });

  test('sends a file with the key', async () => {
    const dialog = await form('uploadSkill', 'post /skills');
    const choosing = page.waitForEvent('filechooser');
    await dialog.getByRole('button', { name: 'Select File' }).first().click();
    const text = '---\nname: returns\ndescription: How goods are returned.\n---\nSend them back.';
    await (await choosing).setFiles({ name: 'SKILL.md', mimeType: 'text/markdown', buffer: Buffer.from(text) });
    await send(dialog);
    await dialog.getByText('201').first().waitFor();
    const { body } = await app.api('get', '/skills');
    expect(body.items).toEqual([expect.objectContaining({ name: 'returns', description: 'How goods are returned.' })]);
    await dialog.getByRole('button', { name: 'Close Client' }).click();
  });

  test('sends JSON and shows the events of a stream', async () => {
    const dialog = await form('streamMessage', 'post /agents/{agentPublicId}/messages/stream');
    await dialog.locator('tr', { hasText: 'agentPublicId' }).locator('[contenteditable=true]').last().click();
    await page.keyboard.type(agentId);
    await send(dialog);
    await dialog.getByText('event: text-delta').first().waitFor();
    await dialog.getByText('event: debug-info').first().waitFor();
    await dialog.getByRole('button', { name: 'Close Client' }).click();
  });

  test('is light or dark as the reader likes', async () => {
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.locator('.darklight-reference').getByRole('button').click();
    await page.locator('body.dark-mode').waitFor();
    expect(await background()).not.toBe(light);
    expect(await page.getByText('Powered by Scalar').isVisible()).toBe(false);
  });

  test('fits a phone', async () => {
    const found = await search('createAgent');
    await found.first().click();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('heading', { name: 'Create an agent' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  // Last, because it looks at what all tests above have requested.
  test('requests nothing from anywhere else, and would not be allowed to', async () => {
    const elsewhere = (url: string) => !url.startsWith(`${app.origin}/`) && !/^(data|blob):/.test(url);
    expect(requested.filter((url) => url.includes('/public/api/v1/')).length).toBeGreaterThanOrEqual(2);
    expect(requested.filter(elsewhere)).toEqual([]);
    const stopped: string[] = await page.evaluate('stopped');
    expect(stopped.filter((what) => what !== PROBE)).toEqual([]);
    expect(broken).toEqual([]);
    const tried = `new Promise((resolve) => {
        addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
        fetch('http://localhost:9/').then(() => resolve('sent'), () => {});
      })`;
    expect(await page.evaluate(tried)).toBe('connect-src');
  });
});
