import { checkFileSize, fetchFile, mediaTypeOf, withoutSecrets } from '../call.ts';
import { asId, asLine, asList, asObject, asSaid } from '../payload.ts';
import type {
  ChannelAccount,
  ChannelIdentity,
  ChannelProblem,
  ChannelProvider,
  InboundMedia,
  OutboundMessage,
  SendOutcome,
  WebhookAnswer,
  WebhookRequest,
} from '../provider.ts';
import type { ChannelOptions } from '../providers.ts';
import { numberOf } from '../recipient.ts';
import { accountProblem, errorText } from './account.ts';
import { callGraph, mediaIdOf, phoneNumberIdOf, readRefusal } from './graph.ts';
import { isBsuid } from './people.ts';
import { receiveWebhook } from './webhook.ts';

/** Hosts to which Meta's media addresses lead. The token goes to no other. */
const META_HOST = /(^|\.)(facebook\.com|fbsbx\.com|fbcdn\.net|whatsapp\.com|whatsapp\.net)$/;
/** Characters of a parameter of a template, well below what its body may have. */
const MAX_PARAMETER = 1000;

/**
 * WhatsApp by Meta's Cloud API, version 23 or newer (developers.facebook.com/documentation/business-messaging/whatsapp). The
 * configuration is `{phoneNumberId, businessAccountId?}`, the credentials are `{accessToken, appSecret, verifyToken}`.
 */
export class WhatsappProvider implements ChannelProvider {
  /** The longest text body (…/reference/whatsapp-business-phone-number/message-api). */
  readonly maxTextCharacters = 4096;
  readonly #options: ChannelOptions;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  receive(account: ChannelAccount, request: WebhookRequest): WebhookAnswer {
    return receiveWebhook(account, request, this.#options.clock.now());
  }

  async send(account: ChannelAccount, message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome> {
    const address = addressOf(message.recipient);
    if (address === null) {
      return { kind: 'refused', code: 'NO_ADDRESS', message: 'The person has no address that WhatsApp takes.' };
    }
    const answer = await callGraph({
      baseUrl: this.#options.whatsappBaseUrl,
      account,
      method: 'POST',
      path: `${phoneNumberIdOf(account)}/messages`,
      body: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        ...address,
        ...contentOf(message.content),
        // Each status brings it back.
        biz_opaque_callback_data: message.deliveryId,
      },
      signal,
    });
    if (answer.status < 200 || answer.status > 299) return readRefusal(answer, account);
    // Accepted, whatever the rest says. Without an id the statuses are known by ours.
    const id = asId(asObject(asList(answer.body.messages)[0]).id);
    return { kind: 'sent', providerMessageId: id ?? `unknown:${message.deliveryId}` };
  }

  /** Marks the message as read, too: the API has no indicator without that. It ends with the reply, or after 25 s. */
  async showTyping(
    account: ChannelAccount,
    { inReplyTo }: { recipient: readonly ChannelIdentity[]; inReplyTo: string | null },
    signal: AbortSignal,
  ): Promise<void> {
    if (inReplyTo === null) return;
    await callGraph({
      baseUrl: this.#options.whatsappBaseUrl,
      account,
      method: 'POST',
      path: `${phoneNumberIdOf(account)}/messages`,
      body: {
        messaging_product: 'whatsapp',
        status: 'read',
        message_id: inReplyTo,
        typing_indicator: { type: 'text' },
      },
      signal,
    }).catch(() => undefined);
  }

  /** The id leads to an address that is good for five minutes, and is fetched with the token. */
  async fetchMedia(
    account: ChannelAccount,
    media: InboundMedia,
    signal: AbortSignal,
  ): Promise<{ bytes: Buffer; mediaType: string | null }> {
    const { status, body } = await callGraph({
      baseUrl: this.#options.whatsappBaseUrl,
      account,
      method: 'GET',
      path: `${mediaIdOf(media.reference)}?phone_number_id=${phoneNumberIdOf(account)}`,
      signal,
    });
    if (status !== 200) {
      const words = withoutSecrets(errorText(asObject(body.error)), account);
      throw new Error(`WhatsApp does not hand over the file (HTTP ${status}): ${words}`);
    }
    checkFileSize(body.file_size);
    const url = URL.parse(asSaid(body.url));
    const base = new URL(this.#options.whatsappBaseUrl);
    const isOwn = url?.origin === base.origin;
    if (url === null || !(isOwn || (url.protocol === 'https:' && META_HOST.test(url.hostname)))) {
      throw new Error('The file is at an address that is not WhatsApp’s.');
    }
    const authorization = `Bearer ${String(account.credentials.accessToken)}`;
    const { bytes, mediaType } = await fetchFile({
      provider: 'WhatsApp',
      url: url.href,
      headers: { Authorization: authorization },
      account,
      allowPrivateNetwork: isOwn || this.#options.allowPrivateNetwork,
      signal,
    });
    return { bytes, mediaType: mediaTypeOf(media, asLine(body.mime_type, 200) || mediaType) };
  }

  async checkHealth(account: ChannelAccount, signal: AbortSignal): Promise<ChannelProblem | null> {
    const answer = await callGraph({
      baseUrl: this.#options.whatsappBaseUrl,
      account,
      method: 'GET',
      path: `${phoneNumberIdOf(account)}?fields=status,quality_rating,health_status`,
      signal,
    });
    if (answer.status !== 200) {
      const { code, message, problem } = readRefusal(answer, account);
      return { code: problem ?? 'PROVIDER_ERROR', message: `${code}: ${message}` };
    }
    return stateProblem(asLine(answer.body.status, 40)) ?? blockedProblem(asObject(answer.body.health_status));
  }
}

/**
 * The field of a send. A number goes into `to`, and is taken where one is known: it stays good when a person hides it. A business-scoped user
 * id goes into `recipient`: as `to` it would be taken for a number, and the message lost.
 */
function addressOf(recipient: readonly ChannelIdentity[]): { to: string } | { recipient: string } | null {
  const number = numberOf(recipient);
  if (number !== null) return { to: number };
  const user = recipient.find(({ kind, value }) => kind === 'bsuid' && isBsuid(value));
  return user ? { recipient: user.value } : null;
}

function contentOf(content: OutboundMessage['content']): Record<string, unknown> {
  switch (content.kind) {
    case 'text':
      return { type: 'text', text: { preview_url: false, body: content.text } };
    case 'audio': {
      // A voice message is Ogg with Opus; anything else is a file with a button.
      const voice = /^audio\/ogg\b/i.test(content.mediaType);
      return { type: 'audio', audio: { link: content.url, ...(voice ? { voice } : {}) } };
    }
    case 'template': {
      const parameters = content.parameters.map((text) => ({ type: 'text', text: parameterOf(text) }));
      const components = parameters.length > 0 ? { components: [{ type: 'body', parameters }] } : {};
      const { name, language } = content;
      return { type: 'template', template: { name, language: { code: language }, ...components } };
    }
  }
}

/** A parameter may have no line breaks, no tabs and no four spaces in a row, and must have something (error 132018). */
function parameterOf(text: string): string {
  return asLine(text, MAX_PARAMETER) || '-';
}

/** States of a phone number in which nothing is sent (…/reference/whatsapp-business-phone-number). */
function stateProblem(state: string): ChannelProblem | null {
  if (state === 'BANNED') return { code: 'NUMBER_BANNED', message: 'WhatsApp banned the phone number.' };
  const isDead = ['DISCONNECTED', 'DELETED', 'MIGRATED', 'UNVERIFIED', 'UNKNOWN'].includes(state);
  return isDead ? { code: 'DISCONNECTED', message: `The phone number is ${state}.` } : null;
}

/** `health_status` says whether messages can be sent, and what blocks them: the app, the business, the account or the number. */
function blockedProblem(health: Readonly<Record<string, unknown>>): ChannelProblem | null {
  if (health.can_send_message !== 'BLOCKED') return null;
  const entity = asList(health.entities)
    .map(asObject)
    .find(({ can_send_message: can }) => can === 'BLOCKED');
  const error = asObject(asList(entity?.errors)[0]);
  const words = asLine(error.error_description, 500) || 'WhatsApp does not say why.';
  const code = accountProblem({ code: error.error_code }) ?? 'PROVIDER_ERROR';
  return { code, message: `No message can be sent: ${words}` };
}
