import { render } from 'preact';
import { App } from './app.tsx';
import { Chat } from './chat.ts';
import { applyBrand } from './colors.ts';
import { direction, language } from './texts.ts';
import type { PageConfig } from './types.ts';

/** The embedding page answers within this time. */
const EMBEDDER_MS = 1000;

const root = document.getElementById('chat') as HTMLElement;
const config = JSON.parse(root.dataset.config ?? '{}') as PageConfig;

document.documentElement.lang = language;
document.documentElement.dir = direction;
applyBrand(config.primaryColor);

/** Says something to the page that embeds this one. Nothing of it is secret. */
const tell = (what: string) => parent.postMessage({ guildhallChat: what }, '*');
const isEmbedded = parent !== self;
const close = isEmbedded ? () => tell('close') : undefined;

const chat: Chat = new Chat(config, (view) => draw(view));
function draw(view: Chat['view']): void {
  render(<App config={config} chat={chat} view={view} close={close} />, root);
}

// The embedding page may say who its user is. The browser lets nobody else embed this page, and the HMAC proves the rest.
addEventListener('message', ({ source, origin, data }) => {
  if (!isEmbedded || source !== parent || !config.origins.includes(origin) || typeof data !== 'object' || !data) return;
  const { guildhallChat, userId, hmac, token } = data as Record<string, unknown>;
  if (guildhallChat === 'token') {
    const kept = typeof token === 'string' ? token : null;
    chat.useToken(kept, (next) => parent.postMessage({ guildhallChat: 'keep', token: next }, origin));
    begin();
  }
  if (guildhallChat === 'identify' && typeof userId === 'string' && typeof hmac === 'string')
    chat.identify(userId, hmac);
  if (guildhallChat === 'forget') chat.forget();
  if (guildhallChat === 'focus') document.querySelector('textarea')?.focus();
});

let hasBegun = false;
function begin(): void {
  if (!hasBegun) void chat.run();
  hasBegun = true;
}

draw(chat.view);
if (isEmbedded) tell('ready');
// An embedding page without our script says nothing.
if (isEmbedded && !chat.isKept) setTimeout(begin, EMBEDDER_MS);
else begin();
