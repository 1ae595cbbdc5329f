/*
 * Embeds a chat in a page:
 *
 *   <script async src="https://agents.example.com/chat/embed.js"></script>
 *   <guildhall-chat connection="…"></guildhall-chat>
 *
 * Attributes: `connection`; `user-id` and `user-hmac` say who the user of the site is; `open` shows the chat at once. Methods: `open()`,
 * `close()`, `identify(userId, hmac)`, `forget()`. It adds a button and, once that is pressed, a frame with the page of the chat.
 */

const base = new URL('.', (document.currentScript as HTMLScriptElement).src);

const STYLE = `
:host { all: initial; position: fixed; inset-block-end: 20px; inset-inline-end: 20px; z-index: 2147483000; }
button { all: unset; box-sizing: border-box; display: grid; place-items: center; inline-size: 56px; block-size: 56px; border-radius: 50%;
  background: var(--brand); color: var(--on-brand); cursor: pointer; box-shadow: 0 4px 16px rgb(0 0 0 / 28%); transition: transform .15s; }
button:hover { transform: scale(1.05); }
button:focus-visible { outline: 3px solid var(--brand); outline-offset: 3px; }
svg { inline-size: 28px; block-size: 28px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
iframe { position: fixed; inset-block-end: 90px; inset-inline-end: 20px; inline-size: min(400px, calc(100vw - 40px));
  block-size: min(660px, calc(100dvh - 110px)); border: 0; border-radius: 16px; box-shadow: 0 12px 48px rgb(0 0 0 / 30%); background: Canvas;
  color-scheme: normal; }
iframe[hidden] { display: none; }
@media (max-width: 480px) { iframe { inset: 0; inline-size: 100%; block-size: 100dvh; border-radius: 0; } }
@media (prefers-reduced-motion: reduce) { button { transition: none; } }`;

/** Black or white, whichever is read better on a colour (WCAG 2.2, contrast). */
function onColor(color: string): string {
  const parts = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const [red = 0, green = 0, blue = 0] = parts;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.183 ? '#fff' : '#111';
}

class GuildhallChat extends HTMLElement {
  #button = document.createElement('button');
  #frame: HTMLIFrameElement | undefined;
  #isReady = false;
  #waiting: object[] = [];
  #begun = false;

  connectedCallback(): void {
    if (!this.#begun) void this.#begin();
  }

  async #begin(): Promise<void> {
    this.#begun = true;
    const connection = this.getAttribute('connection') ?? '';
    const address = new URL(encodeURIComponent(connection), base);
    const answer = await fetch(`${address}/settings`, { credentials: 'omit' }).catch(() => undefined);
    if (!answer?.ok) {
      console.warn(`guildhall-chat: ${connection} is no chat, or ${location.origin} is not one of its allowedOrigins.`);
      return;
    }
    const { title, primaryColor } = (await answer.json()) as { title: string; primaryColor: string };
    const root = this.attachShadow({ mode: 'open' });
    const style = new CSSStyleSheet();
    style.replaceSync(STYLE);
    root.adoptedStyleSheets = [style];
    this.style.setProperty('--brand', primaryColor);
    this.style.setProperty('--on-brand', onColor(primaryColor));
    this.#button.type = 'button';
    this.#button.title = title;
    this.#button.setAttribute('aria-label', title);
    this.#button.setAttribute('aria-expanded', 'false');
    this.#button.append(icon());
    this.#button.addEventListener('click', () => (this.#isOpen ? this.close() : this.open()));
    root.append(this.#button);
    this.dataset.address = address.href;
    this.dataset.name = title;
    addEventListener('message', (event) => this.#hear(event));
    const [userId, hmac] = [this.getAttribute('user-id'), this.getAttribute('user-hmac')];
    if (userId && hmac) this.identify(userId, hmac);
    if (this.hasAttribute('open')) this.open();
  }

  get #isOpen(): boolean {
    return this.#frame !== undefined && !this.#frame.hidden;
  }

  #hear({ source, origin, data }: MessageEvent): void {
    if (!this.#frame || source !== this.#frame.contentWindow || origin !== base.origin) return;
    const { guildhallChat, token } = (data ?? {}) as Record<string, unknown>;
    if (guildhallChat === 'close') this.close();
    if (guildhallChat === 'keep') this.#keep(token);
    if (guildhallChat !== 'ready') return;
    this.#isReady = true;
    this.#tell({ guildhallChat: 'token', token: this.#kept() });
    for (const each of this.#waiting.splice(0)) this.#tell(each);
  }

  /** Says something to the page in the frame, as soon as it hears. */
  #tell(what: object): void {
    if (this.#isReady) this.#frame?.contentWindow?.postMessage(what, base.origin);
    else this.#waiting.push(what);
  }

  /** The token of the visitor, where the browser lets the frame keep nothing: this page keeps it then. */
  #kept(): string | null {
    try {
      return localStorage.getItem(this.#place);
    } catch {
      return null;
    }
  }

  #keep(token: unknown): void {
    try {
      if (typeof token === 'string') localStorage.setItem(this.#place, token);
      else localStorage.removeItem(this.#place);
    } catch {
      // Then the conversation lasts as long as this page.
    }
  }

  get #place(): string {
    return `guildhall-chat:${this.getAttribute('connection')}`;
  }

  /** Shows the chat. */
  open(): void {
    const address = this.dataset.address;
    if (!address || !this.shadowRoot) {
      this.setAttribute('open', '');
      return;
    }
    if (!this.#frame) {
      this.#frame = document.createElement('iframe');
      this.#frame.title = this.dataset.name ?? '';
      this.#frame.src = address;
      this.#frame.referrerPolicy = 'strict-origin';
      this.shadowRoot.append(this.#frame);
    }
    this.#frame.hidden = false;
    this.#button.setAttribute('aria-expanded', 'true');
    this.#tell({ guildhallChat: 'focus' });
  }

  /** Hides the chat. */
  close(): void {
    if (!this.#frame) return;
    this.#frame.hidden = true;
    this.#button.setAttribute('aria-expanded', 'false');
    this.#button.focus();
  }

  /** Says who the user of the site is: `hmac` is the HMAC-SHA256 of the id with the secret of the connection, made by the site's server. */
  identify(userId: string, hmac: string): void {
    this.#tell({ guildhallChat: 'identify', userId, hmac });
  }

  /** The user of the site has left: whoever comes next is somebody else. */
  forget(): void {
    this.#tell({ guildhallChat: 'forget' });
  }
}

function icon(): SVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', 'M21 12a8 8 0 0 1-11.500 7.200L4 21l1.800-5.500A8 8 0 1 1 21 12z');
  svg.append(path);
  return svg;
}

customElements.define('guildhall-chat', GuildhallChat);
