import { createAjv } from '../../../core/ajv.ts';
import { readDocument } from '../../../core/document.ts';
import { webhooksOf } from '../../../scripts/bundle/webhooks.ts';
import { everyHook } from '../../../server/routes/hooks/everyHook.ts';
import type { Document, Operation } from '../../../spec/rules/types.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { connectHub } from '../../support/hub/payingHub.ts';
import { signedWebhook } from '../../support/stripe/events.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stripe.ts';

/* The document's webhook `payment` is what `POST /hooks/payments` does. */

const document = readDocument() as Document;
const operation = webhooksOf(document).payment?.post as Operation & { description: string };
const ajv = createAjv().addSchema({ ...document, $id: 'document' });
const isValid = (name: string, value: unknown) => ajv.validate(`document#/components/schemas/${name}`, value);
type Media = Record<string, { examples: Record<string, { value: Record<string, unknown> }> }>;
interface Answer {
  $ref?: string;
  content?: Media;
}
const responses = operation.responses as unknown as Record<string, Answer>;
const shared = document.components?.responses as Record<string, Answer>;
const media = (content: unknown) => (content as Media)['application/json']?.examples ?? {};
/** The codes of a status in the document. */
const codesOf = (status: string) =>
  Object.keys(media(shared[responses[status]?.$ref?.split('/').at(-1) ?? '']?.content ?? {}));
const examples = media((operation.requestBody as { content: unknown }).content);
const ACCOUNT = 'acct_1Nv0FGQ9RKHgCVdK';

const clock = new TestClock();
let stripe: StripeStandIn;
let app: TestApp;
beforeAll(async () => {
  stripe = await startStripe({ clock, callMs: 2000, maxRetries: 0 });
  app = await startTestApp({ clock, payments: stripe.settings });
  await connectHub(app, stripe, ACCOUNT);
});
afterAll(async () => {
  await app.close();
  await stripe.close();
});

/** Sends a body, signed unless `headers` say otherwise, and looks up the answer in the document. */
async function send(event: unknown, headers: Record<string, string> = {}) {
  const at = Math.floor(clock.now().getTime() / 1000);
  const signed = signedWebhook(event, stripe.webhookSecret, at);
  const { status, body } = await app.raw
    .post('/hooks/payments')
    .set({ ...signed.headers, ...headers })
    .send(signed.body);
  expect(Object.keys(responses)).toContain(String(status));
  expect(isValid(status === 200 ? 'PaymentEventReceived' : 'ApiError', body)).toBe(true);
  if (status !== 200) expect(codesOf(String(status))).toContain(body.code);
  return { status, body };
}

test('the hook has the name, the method and the limit of the document', () => {
  const hook = everyHook.find(({ path }) => path === '/payments');
  expect([hook?.name, hook?.method, hook?.maxBytes]).toEqual([operation.operationId, 'POST', 1_048_576]);
  expect(operation.description).toContain('`POST /hooks/payments`');
  expect(operation.description).toContain('at most 1 MiB');
  expect(operation.parameters).toEqual([document.components?.parameters?.StripeSignature]);
});

test.each(Object.keys(examples))('the example %s is stored', async (name) => {
  const event = examples[name]?.value;
  expect(await send(event)).toEqual({ status: 200, body: media(responses[200]?.content).stored?.value });
  const { workspaceId, db } = app.workspace;
  const stored = await db
    .selectFrom('payment_events')
    .select('payload')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', String(event?.id))
    .execute();
  expect(stored).toEqual([{ payload: event }]);
});

test('the example of an account without a hub is its answer', async () => {
  const answer = await send({ ...examples.invoicePaid?.value, account: 'acct_foreign' });
  expect(answer).toEqual({ status: 200, body: media(responses[200]?.content).ignored?.value });
});

describe('what the schema refuses is 400, and what it takes is not', () => {
  test.each<[string, Record<string, unknown>]>([
    ['no id', { id: undefined }],
    ['an empty id', { id: '' }],
    ['a long id', { id: 'e'.repeat(256) }],
    ['the longest id', { id: 'e'.repeat(255) }],
    ['no type', { type: undefined }],
    ['a long type', { type: 't'.repeat(256) }],
    ['a type that nobody knows', { type: 'something.new' }],
    ['no time', { created: undefined }],
    ['a time before 1970', { created: -1 }],
    ['a time with a fraction', { created: 1.5 }],
    ['a time that is no date', { created: Number.MAX_SAFE_INTEGER }],
    ['the last time', { created: 253_402_300_799 }],
    ['a later time', { created: 253_402_300_800 }],
    ['no mode', { livemode: undefined }],
    ['a mode that is text', { livemode: 'false' }],
    ['an account that is a number', { account: 1 }],
    ['a long account', { account: 'a'.repeat(256) }],
    ['no account', { account: null }],
    ['another field', { more: { nested: [1] } }],
  ])('%s', async (what, fields) => {
    const event = { id: `evt_${what}`, type: 'invoice.paid', created: 1_798_761_600, livemode: false, ...fields };
    const wire = JSON.parse(JSON.stringify(event));
    expect((await send(wire)).status).toBe(isValid('PaymentEvent', wire) ? 200 : 400);
  });
});

describe('what the document says of refusals', () => {
  const event = examples.invoicePaid?.value ?? {};

  test('400 without a signature, with a forged one, an old one, and in the other mode', async () => {
    const old = signedWebhook(event, stripe.webhookSecret, Math.floor(clock.now().getTime() / 1000) - 301);
    const forged = signedWebhook(event, 'whsec_other', Math.floor(clock.now().getTime() / 1000));
    for (const { headers } of [old, forged, { headers: { 'stripe-signature': '' } }])
      expect((await send(event, headers)).status).toBe(400);
    expect((await send({ ...event, livemode: true })).body.message).toContain('mode');
  });

  test('413 for more than 1 MiB', async () => {
    expect((await send({ ...event, more: 'a'.repeat(1_048_576) })).status).toBe(413);
  });

  test('415 for a packed body', async () => {
    expect((await send(event, { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  test('404 where no secret is set', async () => {
    const without = await startTestApp({
      database: app.database,
      payments: { ...stripe.settings, webhookSecrets: [] },
    });
    const { status, body } = await without.raw.post('/hooks/payments').send('{}');
    await without.close();
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    expect(codesOf('404')).toEqual(['NOT_FOUND']);
  });

  test('429 and 503 are errors that every shared hook has', () => {
    expect(codesOf('429')).toContain('RATE_LIMITED');
    expect(codesOf('503')).toContain('UNAVAILABLE');
  });
});
