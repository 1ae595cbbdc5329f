import { callProvider, fetchFile, mediaTypeOf, type ProviderAnswer, settingOf, withoutSecrets } from '../call.ts';
import { asId, asLine } from '../payload.ts';
import {
  type ChannelAccount,
  type ChannelIdentity,
  type ChannelProblem,
  type ChannelProblemCode,
  type ChannelProvider,
  type InboundMedia,
  type OutboundMessage,
  SendFailed,
  type SendOutcome,
  type WebhookAnswer,
  type WebhookRequest,
} from '../provider.ts';
import type { ChannelOptions } from '../providers.ts';
import { numberOf } from '../recipient.ts';
import { receiveZApiWebhook } from './webhook.ts';

/** Seconds for which Z-API shows that somebody writes, at most. */
const MAX_TYPING_SECONDS = 15;
/** What Z-API answers when no phone is connected to the instance. */
const NOT_CONNECTED = /not connected|restore the session|disconnected/i;
/** What it answers when the token of the account, or the one of the instance, is wrong. */
const WRONG_TOKEN = /client-token|instance not found|unauthorized|not allowed|invalid token/i;

/**
 * WhatsApp over Z-API (developer.z-api.io), which connects a phone as WhatsApp Web does. The configuration is `{instanceId}`, the
 * credentials are `{instanceToken, clientToken}`. The token of the instance is a part of each address: no address is ever in an
 * error.
 */
export class ZApiProvider implements ChannelProvider {
  /** Z-API names no limit. What people read on a phone is shorter than what WhatsApp takes (65,536). */
  readonly maxTextCharacters = 4096;
  readonly #options: ChannelOptions;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  receive(account: ChannelAccount, request: WebhookRequest): WebhookAnswer {
    return receiveZApiWebhook(account, request, this.#options.clock.now());
  }

  async send(account: ChannelAccount, message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome> {
    const phone = addressOf(message.recipient);
    if (phone === null) return refusal('NO_ADDRESS', 'The person has no address that Z-API takes.');
    const { content, typingMs = 0 } = message;
    if (content.kind === 'template') return refusal('NO_TEMPLATES', 'Z-API has no templates.');
    const seconds = Math.min(Math.ceil(typingMs / 1000), MAX_TYPING_SECONDS);
    // Without it Z-API waits for one to three seconds, which the caller has done where it is wanted.
    const delays = { delayMessage: 1, ...(seconds > 0 ? { delayTyping: seconds } : {}) };
    const answer =
      content.kind === 'text'
        ? await this.#call(account, 'send-text', signal, { phone, message: content.text, ...delays })
        : await this.#call(account, 'send-audio', signal, { phone, audio: content.url, waveform: true, ...delays });
    if (answer.status < 200 || answer.status > 299 || answer.body.error) return readOutcome(answer, account);
    const id = asId(answer.body.messageId) ?? asId(answer.body.id) ?? asId(answer.body.zaapId);
    return { kind: 'sent', providerMessageId: id ?? `unknown:${message.deliveryId}` };
  }

  /** The files of received messages are at public addresses for 30 days; they are fetched without credentials. */
  async fetchMedia(
    account: ChannelAccount,
    media: InboundMedia,
    signal: AbortSignal,
  ): Promise<{ bytes: Buffer; mediaType: string | null }> {
    const isOwn = URL.parse(media.reference)?.origin === new URL(this.#options.zApiBaseUrl).origin;
    const { bytes, mediaType } = await fetchFile({
      provider: 'Z-API',
      url: media.reference,
      account,
      allowPrivateNetwork: isOwn || this.#options.allowPrivateNetwork,
      signal,
    });
    return { bytes, mediaType: mediaTypeOf(media, mediaType) };
  }

  async checkHealth(account: ChannelAccount, signal: AbortSignal): Promise<ChannelProblem | null> {
    const answer = await this.#call(account, 'status', signal);
    if (answer.status !== 200) {
      const { code, message, problem } = readOutcome(answer, account);
      return { code: problem ?? 'PROVIDER_ERROR', message: `${code}: ${message}` };
    }
    const { connected, smartphoneConnected } = answer.body;
    const words = withoutSecrets(asLine(answer.body.error, 500), account);
    if (connected !== true) return { code: 'DISCONNECTED', message: words || 'No phone is connected to the instance.' };
    const isOffline = smartphoneConnected === false;
    return isOffline ? { code: 'DISCONNECTED', message: 'The phone has no connection to the internet.' } : null;
  }

  async #call(account: ChannelAccount, name: string, signal: AbortSignal, body?: unknown): Promise<ProviderAnswer> {
    const instance = encodeURIComponent(settingOf(account.config, 'instanceId'));
    const token = encodeURIComponent(settingOf(account.credentials, 'instanceToken'));
    return callProvider({
      provider: 'Z-API',
      method: body === undefined ? 'GET' : 'POST',
      url: `${this.#options.zApiBaseUrl}/instances/${instance}/token/${token}/${name}`,
      headers: { 'Client-Token': settingOf(account.credentials, 'clientToken') },
      ...(body === undefined ? {} : { body }),
      signal,
    });
  }
}

/** A number, or an address that hides it where no number is known: Z-API takes both as `phone`. */
function addressOf(recipient: readonly ChannelIdentity[]): string | null {
  const hidden = recipient.find(({ kind, value }) => kind === 'lid' && /^\d{5,30}@lid$/.test(value));
  return numberOf(recipient) ?? hidden?.value ?? null;
}

/** Reads an answer that refuses. Throws SendFailed for what passes: faults of the service itself, and too many calls. */
function readOutcome({ status, body }: ProviderAnswer, account: ChannelAccount): SendOutcome & { kind: 'refused' } {
  const said = [body.error, body.message].map((each) => asLine(each, 500)).filter(Boolean);
  const words = withoutSecrets(said.join(': ') || 'Z-API gives no reason.', account);
  const code = `HTTP_${status}`;
  if (NOT_CONNECTED.test(words)) return refusal(code, words, 'DISCONNECTED');
  if (status === 401 || status === 403 || WRONG_TOKEN.test(words)) return refusal(code, words, 'TOKEN_EXPIRED');
  if (status >= 500 || status === 429 || status === 408) {
    throw new SendFailed(`Z-API does not take the message now (HTTP ${status}): ${words}`, status === 504);
  }
  return refusal(code, words);
}

function refusal(code: string, message: string, problem?: ChannelProblemCode): SendOutcome & { kind: 'refused' } {
  return { kind: 'refused', code, message, ...(problem ? { problem } : {}) };
}
