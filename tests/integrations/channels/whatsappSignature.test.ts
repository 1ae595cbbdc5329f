import type { WebhookRequest } from '../../../integrations/channels/provider.ts';
import { postOf } from '../../support/channels/accounts.ts';
import { WHATSAPP_WEBHOOKS } from '../../support/channels/whatsappPayloads.ts';
import { account, provider, signatureOf } from '../../support/channels/whatsappReceiver.ts';

describe('the signature', () => {
  const body = JSON.stringify(WHATSAPP_WEBHOOKS.text);
  const answerTo = (header: string | string[] | undefined) =>
    provider.receive(account, postOf(body, { 'x-hub-signature-256': header })).kind;

  test('is of the raw body, in digits of either case', () => {
    expect(answerTo(signatureOf(body))).toBe('events');
    expect(answerTo(signatureOf(body).toUpperCase().replace('SHA256', 'sha256'))).toBe('events');
    // The same JSON in other bytes is another body.
    const respelled = postOf(JSON.stringify(WHATSAPP_WEBHOOKS.text, null, 1), {
      'x-hub-signature-256': signatureOf(body),
    });
    expect(provider.receive(account, respelled)).toMatchObject({ kind: 'refused', status: 401 });
  });

  test.each([
    undefined,
    '',
    'sha256=',
    `sha1=${'0'.repeat(40)}`,
    `sha256=${'0'.repeat(64)}`,
    signatureOf(body, 'another secret'),
    signatureOf(body).slice(0, -2),
    signatureOf(body).replace('sha256=', ''),
    [signatureOf(body), signatureOf(body)],
  ])('%j is refused', (header) => {
    expect(answerTo(header)).toBe('refused');
  });

  test('is wrong without an app secret, whatever was signed with nothing', () => {
    const bare = { ...account, credentials: { ...account.credentials, appSecret: '' } };
    const request = postOf(body, { 'x-hub-signature-256': signatureOf(body, '') });
    expect(provider.receive(bare, request)).toMatchObject({ kind: 'refused', status: 401 });
  });
});

describe('the handshake', () => {
  const ask = (query: WebhookRequest['query']) =>
    provider.receive(account, { method: 'GET', headers: {}, query, body: Buffer.alloc(0) });
  const right = { 'hub.mode': 'subscribe', 'hub.verify_token': 'verify-me', 'hub.challenge': '1158201444' };

  test('repeats the challenge to whoever knows the token', () => {
    expect(ask(right)).toEqual({ kind: 'handshake', text: '1158201444' });
  });

  test.each([
    [{ ...right, 'hub.verify_token': 'other' }, 403],
    [{ ...right, 'hub.verify_token': undefined }, 403],
    [{ ...right, 'hub.mode': 'unsubscribe' }, 403],
    [{ ...right, 'hub.challenge': undefined }, 400],
    [{ ...right, 'hub.challenge': '<script>alert(1)</script>' }, 400],
    [{}, 403],
  ])('%j is refused', (query, status) => {
    expect(ask(query)).toMatchObject({ kind: 'refused', status });
  });
});
