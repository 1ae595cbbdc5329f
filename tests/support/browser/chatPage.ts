import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { systemClock } from '../../../core/clock.ts';
import { globalModelId } from '../../../runtime/models/catalogue.ts';
import { openChat, type TestChat } from '../channels/webChat.ts';
import { startTestApp, type TestApp } from '../http/app.ts';
import { PATIENCE_MS } from '../poll.ts';
import { type ModelServer, startModelServer } from '../servers/modelServer.ts';
import { installedBrowser, startBrowser } from './browser.ts';

/** A model that the server answers: it speaks chat completions, accepts no files and costs nothing. */
const LOCAL = globalModelId('openai-compatible', 'local-model');

const executable = installedBrowser();
if (!executable) process.stderr.write('SKIPPED tests/browser: no chromium or google-chrome is installed.\n');
/** `describe`, where there is a browser. */
export const inBrowser = executable ? describe : describe.skip;

/** What `useChatPages` started. Read it in hooks and tests: before them nothing is there yet. */
export interface ChatPages {
  readonly app: TestApp;
  /** Answers as the model of every agent; reset before each test. */
  readonly server: ModelServer;
  readonly browser: Browser;
  /** What no page may have: errors of scripts, and what the Content-Security-Policy stopped. Emptied before each test. */
  readonly broken: string[];
  /** Makes an agent with a chat page on a model that the server answers. */
  open(options?: Parameters<typeof openChat>[1]): Promise<TestChat>;
  /** A browser of somebody's own, closed after the test. */
  somebody(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Opens the chat in a new tab. Resolves when it is connected. */
  visit(context: BrowserContext, chat: TestChat): Promise<Page>;
}

/** Gives a `describe` the service with its background jobs, a model server and a browser, for as long as its tests run. */
export function useChatPages(): ChatPages {
  let app: TestApp;
  let server: ModelServer;
  let browser: Browser;
  const broken: string[] = [];
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    server = await startModelServer();
    app = await startTestApp({ models: server.settings(), jobs: true, clock: systemClock, allowPrivateNetwork: true });
    browser = await startBrowser(executable ?? '');
  });
  beforeEach(() => {
    server.reset();
    broken.length = 0;
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await server?.close();
  });

  return {
    get app() {
      return app;
    },
    get server() {
      return server;
    },
    get browser() {
      return browser;
    },
    broken,
    open: (options = {}) => openChat(app, { ...options, agent: { aiModelPublicId: LOCAL, ...options.agent } }),
    async somebody(options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 860 }, ...options });
      contexts.push(context);
      context.on('weberror', (error) => broken.push(error.error().message));
      context.on('console', (message) => {
        if (/Content.Security.Policy|Trusted/i.test(message.text())) broken.push(message.text());
      });
      return context;
    },
    async visit(context, chat) {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      const connected = page.waitForResponse((response) => response.url().endsWith('/stream'));
      await page.goto(chat.url);
      await connected;
      return page;
    },
  };
}

/** Writes a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^(Message|Nachricht|رسالة)$/ }).fill(text);
  await page.locator('button.send').click();
}

/** The texts of the messages that the page shows, without their times: of one side, or of both. */
export async function shown(page: Page, side: 'user' | 'assistant' | '' = ''): Promise<string[]> {
  return page.locator(`main .message${side && `.${side}`}:not(.live) .bubble`).allInnerTexts();
}
