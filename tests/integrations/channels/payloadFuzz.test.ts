import { createHmac } from 'node:crypto';
import { isStorableJson } from '../../../core/json.ts';
import type { ChannelProvider, InboundEvent } from '../../../integrations/channels/provider.ts';
import { channelSettingsFromEnv } from '../../../integrations/channels/settings.ts';
import { WhatsappProvider } from '../../../integrations/channels/whatsapp/whatsapp.ts';
import { ZApiProvider } from '../../../integrations/channels/zApi/zApi.ts';
import { postOf } from '../../support/channels/accounts.ts';
import { mutatedWebhooks, randomFrom } from '../../support/channels/mutatedWebhooks.ts';
import { BUSINESS_ID, PHONE_NUMBER_ID, WHATSAPP_WEBHOOKS } from '../../support/channels/whatsappPayloads.ts';
import { INSTANCE_ID, ZAPI_WEBHOOKS } from '../../support/channels/zApiPayloads.ts';

/* 10,000 mutated webhooks for each parser: none is a fault, and whatever comes out can be stored. */

const MUTATIONS = 10_000;
const NOW = new Date('2026-03-02T12:00:00.000Z');
const APP_SECRET = 'app-secret-0123456789abcdef';
const options = { ...channelSettingsFromEnv({}), allowPrivateNetwork: false, clock: { now: () => NOW } };
const account = {
  workspaceId: 'w',
  connectionId: 'c',
  config: { phoneNumberId: PHONE_NUMBER_ID, businessAccountId: BUSINESS_ID, instanceId: INSTANCE_ID },
  credentials: { appSecret: APP_SECRET, accessToken: 'token-0123456789', verifyToken: 'verify-me' },
};

/** What is wrong with an event, as the database and its readers see it; undefined when nothing is. */
function wrongIn(event: InboundEvent): string | undefined {
  const json = JSON.stringify(event);
  if (!isStorableJson(json)) return 'It cannot be stored.';
  if (json.length > 6 * 65_536) return 'It is too long.';
  if ('providerMessageId' in event && event.providerMessageId !== null) {
    const { length } = event.providerMessageId;
    if (length < 1 || length > 255) return 'Its id does not fit.';
  }
  if ('text' in event && event.text.length > 65_536) return 'Its text is too long.';
  if (event.kind === 'message' && event.text === '' && event.media.length === 0) return 'It says nothing.';
  if (event.kind === 'status' && !['sent', 'delivered', 'read', 'failed'].includes(event.status)) {
    return 'Its status is none.';
  }
  if ('note' in event && (event.note.length > 65_536 || event.note === '')) return 'Its note does not fit.';
  if ('identities' in event && event.identities) {
    const fits = event.identities.every(({ value }) => value.length >= 1 && value.length <= 255);
    if (event.identities.length === 0 || !fits) return 'Its identities do not fit.';
  }
  if ('profileName' in event && (event.profileName?.length ?? 1) > 255) return 'Its name is too long.';
  const time = 'sentAt' in event ? event.sentAt : 'at' in event ? event.at : NOW.toISOString();
  const ms = Date.parse(time);
  if (!(ms >= Date.UTC(2009, 0, 1) && ms <= NOW.getTime())) return 'Its time cannot be.';
  return undefined;
}

function check(provider: ChannelProvider, webhooks: Readonly<Record<string, unknown>>, seed: number) {
  const kinds: Record<string, number> = {};
  for (const body of mutatedWebhooks(webhooks, { seed, count: MUTATIONS })) {
    const signature = createHmac('sha256', APP_SECRET).update(body).digest('hex');
    const answer = provider.receive(account, postOf(body, { 'x-hub-signature-256': `sha256=${signature}` }));
    if (answer.kind === 'refused') expect([400, 401, 403]).toContain(answer.status);
    const events = answer.kind === 'events' ? answer.events : [];
    if (events.length > 2001) throw new Error('Too many events.');
    for (const { account: number, event } of events) {
      const wrong = (number?.length ?? 0) > 200 ? 'Its account is too long.' : wrongIn(event);
      if (wrong !== undefined)
        throw new Error(`${wrong} ${JSON.stringify(event).slice(0, 500)} of ${body.toString().slice(0, 2000)}`);
      kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
    }
    kinds[answer.kind] = (kinds[answer.kind] ?? 0) + 1;
  }
  return kinds;
}

test.each([1, 2])('the Cloud API, seed %i', (seed) => {
  const kinds = check(new WhatsappProvider(options), WHATSAPP_WEBHOOKS, seed);
  // The mutations still reach every kind of event.
  for (const kind of ['message', 'note', 'echo', 'status', 'health', 'ignored', 'refused'])
    expect(kinds[kind]).toBeGreaterThan(50);
});

test.each([1, 2])('Z-API, seed %i', (seed) => {
  const kinds = check(new ZApiProvider(options), ZAPI_WEBHOOKS, seed);
  for (const kind of ['message', 'note', 'echo', 'status', 'health', 'ignored', 'refused'])
    expect(kinds[kind]).toBeGreaterThan(50);
});

test('no event comes of a body that was not signed, or signed for another', () => {
  const provider = new WhatsappProvider(options);
  const random = randomFrom(3);
  const digits = '0123456789abcdefABCDEF=sha256, ';
  let previous = '';
  for (const body of mutatedWebhooks(WHATSAPP_WEBHOOKS, { seed: 3, count: MUTATIONS })) {
    const forged = Array.from({ length: 64 }, () => digits[Math.floor(random() * digits.length)]).join('');
    for (const header of [undefined, forged, `sha256=${forged}`, previous]) {
      const answer = provider.receive(account, postOf(body, { 'x-hub-signature-256': header }));
      if (answer.kind !== 'refused') throw new Error(`It was taken with ${header}.`);
    }
    previous = `sha256=${createHmac('sha256', APP_SECRET).update(body).update(' ').digest('hex')}`;
  }
});

test('a body of 5 MiB that nests or repeats is read without a fault', () => {
  const provider = new WhatsappProvider(options);
  const nested = '['.repeat(2_500_000) + ']'.repeat(2_500_000);
  const wide = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: Array.from({ length: 400_000 }, () => ({})),
  });
  for (const body of [nested, wide]) {
    const signature = createHmac('sha256', APP_SECRET).update(body).digest('hex');
    const answer = provider.receive(account, postOf(body, { 'x-hub-signature-256': `sha256=${signature}` }));
    expect(['events', 'refused']).toContain(answer.kind);
    expect(['events', 'refused']).toContain(new ZApiProvider(options).receive(account, postOf(body)).kind);
  }
});
