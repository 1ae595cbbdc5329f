import { render } from 'preact';
import { App } from './app.tsx';
import { Chat } from './chat.ts';
import { applyBrand } from './colors.ts';
import { direction, language } from './texts.ts';
import type { PageConfig } from './types.ts';

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
  const { guildhallChat, userId, hmac } = data as Record<string, unknown>;
  if (guildhallChat === 'identify' && typeof userId === 'string' && typeof hmac === 'string')
    chat.identify(userId, hmac);
  if (guildhallChat === 'forget') chat.forget();
  if (guildhallChat === 'focus') document.querySelector('textarea')?.focus();
});

draw(chat.view);
void chat.run();
if (isEmbedded) tell('ready');
