import { createHmac, randomUUID } from 'node:crypto';
import { readDelivery } from '../../../integrations/toolkits/builtin/deliveries.ts';
import { BUILTIN_TRIGGERS } from '../../../integrations/toolkits/builtin/triggers.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { addressOf, makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const SECRET = 'a-secret-that-both-sides-know';
const STRIPE_SECRET = 'whsec_0123456789abcdef0123456789abcdef';
const STANDARD_SECRET = `whsec_${Buffer.from(SECRET.repeat(2)).toString('base64')}`;

/** Headers and body of a request. */
interface Signed {
  headers: Record<string, string>;
  body: string;
}

const hmac = (secret: string | Buffer, text: string, encoding: 'hex' | 'base64' = 'hex', algorithm = 'sha256') =>
  createHmac(algorithm, secret).update(text).digest(encoding);
const seconds = (offset = 0) => String(Math.floor(clock.now().getTime() / 1000) + offset);

function github(event: string, payload: object, { secret = SECRET, delivery = randomUUID() as string } = {}): Signed {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': delivery,
      'X-Hub-Signature-256': `sha256=${hmac(secret, body)}`,
    },
  };
}

function stripe(event: object, { time = seconds(), secret = STRIPE_SECRET } = {}): Signed {
  const body = JSON.stringify(event);
  const signature = hmac(secret, `${time}.${body}`);
  return { body, headers: { 'Stripe-Signature': `t=${time},v1=${'0'.repeat(64)},v1=${signature},v0=x` } };
}

function standard(event: object, { time = seconds(), id = `msg_${randomUUID()}` } = {}): Signed {
  const body = JSON.stringify(event);
  const key = Buffer.from(STANDARD_SECRET.slice(6), 'base64');
  const signature = `v1a,x v1,${hmac(key, `${id}.${time}.${body}`, 'base64')}`;
  return { body, headers: { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } };
}

const TRIGGERS = {
  GITHUB_PUSH: { signingSecret: SECRET, repository: 'ada/engine', branches: ['main', 'release/1'] },
  GITHUB_PULL_REQUEST: { signingSecret: SECRET, actions: ['opened'], branches: ['main'] },
  GITHUB_WORKFLOW_RUN: { signingSecret: SECRET, conclusions: ['failure'] },
  STRIPE_INVOICE_PAID: { signingSecret: STRIPE_SECRET, livemode: true },
  STRIPE_EVENT: { signingSecret: STRIPE_SECRET, events: ['payout.paid'] },
  WEBHOOK_SIGNED: { signingSecret: SECRET, signatureHeader: 'X-Signature' },
  WEBHOOK_STANDARD: { signingSecret: STANDARD_SECRET, events: ['lead.created'], toleranceSeconds: 60 },
} as const;

/** An automation that waits for a trigger, with functions that send to its address and read what came of it. */
async function waiting(slug: keyof typeof TRIGGERS, triggerConfig: object = TRIGGERS[slug]) {
  const { publicId: agentId } = await makeAgent(app);
  const toolkit = slug.split('_')[0]?.toLowerCase();
  const fields = { triggerMode: 'webhook', triggerToolkitSlug: toolkit, triggerSlug: slug, triggerConfig };
  const automation = await makeAutomation(app, agentId, fields);
  const path = addressOf(app, automation);
  return {
    send: ({ headers, body }: Signed) => app.raw.post(path).type('json').set(headers).send(body),
    executions: () =>
      app.workspace.db
        .selectFrom('automation_executions')
        .select(['id', 'triggered_by', 'event'])
        .where('automation_id', '=', automation.publicId)
        .execute(),
  };
}

const PUSH = { ref: 'refs/heads/main', repository: { full_name: 'Ada/Engine' }, commits: [{ id: 'c1' }] };
const NOTHING = { executionPublicId: null, status: null };

describe('an event that the automation waits for', () => {
  test.each<[keyof typeof TRIGGERS, () => Signed, string]>([
    ['GITHUB_PUSH', () => github('push', PUSH), 'push'],
    [
      'GITHUB_PULL_REQUEST',
      () => github('pull_request', { action: 'opened', pull_request: { base: { ref: 'main' } } }),
      'pull_request',
    ],
    [
      'GITHUB_WORKFLOW_RUN',
      () => github('workflow_run', { action: 'completed', workflow_run: { conclusion: 'failure' } }),
      'workflow_run',
    ],
    ['STRIPE_INVOICE_PAID', () => stripe({ id: 'evt_1', type: 'invoice.paid', livemode: true }), 'invoice.paid'],
    ['STRIPE_EVENT', () => stripe({ id: 'evt_2', type: 'payout.paid', livemode: false }), 'payout.paid'],
    ['WEBHOOK_STANDARD', () => standard({ type: 'lead.created' }), 'lead.created'],
  ])('%s', async (slug, signed, event) => {
    const { send, executions } = await waiting(slug);
    const request = signed();
    const { status, body } = await send(request);
    expect([status, body]).toEqual([202, { executionPublicId: expect.any(String), status: 'DISPATCHED' }]);
    const contentType = `application/json; event=${event}`;
    expect(await executions()).toEqual([
      {
        id: body.executionPublicId,
        triggered_by: `webhook:${slug}`,
        event: { contentType, text: request.body, digest: expect.any(String) },
      },
    ]);
    // Sent again, as all of them do when an answer was late.
    expect((await send(request)).body.executionPublicId).toBe(body.executionPublicId);
    expect(await executions()).toHaveLength(1);
  });

  test('GitHub sends a form unless the webhook says otherwise', async () => {
    const { send, executions } = await waiting('GITHUB_PUSH');
    const body = new URLSearchParams({ payload: JSON.stringify(PUSH) }).toString();
    const headers = { 'X-GitHub-Event': 'push', 'X-Hub-Signature-256': `sha256=${hmac(SECRET, body)}` };
    await send({ body, headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' } }).expect(202);
    expect((await executions())[0]?.event).toMatchObject({ text: JSON.stringify(PUSH) });
  });

  test.each([
    ['sha512', 'base64', 'hmac '],
    ['sha1', 'hex', 'sha1='],
    ['sha384', 'base64', ''],
  ] as const)('a signature of any sender: %s in %s after %j', async (algorithm, encoding, signaturePrefix) => {
    const settings = { algorithm, encoding, signaturePrefix, timestampHeader: 'X-Time', eventHeader: 'X-Event' };
    const { send, executions } = await waiting('WEBHOOK_SIGNED', {
      ...TRIGGERS.WEBHOOK_SIGNED,
      ...settings,
      events: ['deploy'],
    });
    const request = (event: string, time = seconds()) => {
      const body = '{"ok":true}';
      const signature = signaturePrefix + hmac(SECRET, `${time}.${body}`, encoding, algorithm);
      return { body, headers: { 'X-Signature': signature, 'X-Time': time, 'X-Event': event } };
    };
    expect((await send(request('deploy'))).body.status).toBe('DISPATCHED');
    expect((await send(request('test', seconds(1)))).body).toEqual(NOTHING);
    expect((await send(request('deploy', seconds(-301)))).status).toBe(400);
    expect(await executions()).toHaveLength(1);
    // The same body at another time is another event.
    expect((await send(request('deploy', seconds(-2)))).body.status).toBe('DISPATCHED');
    expect(await executions()).toHaveLength(2);
  });
});

describe('signed, and nothing to run', () => {
  test.each<[string, keyof typeof TRIGGERS, () => Signed]>([
    ['the ping of GitHub', 'GITHUB_PUSH', () => github('ping', { zen: 'Keep it logically awesome.' })],
    ['another event', 'GITHUB_PUSH', () => github('star', PUSH)],
    ['another repository', 'GITHUB_PUSH', () => github('push', { ...PUSH, repository: { full_name: 'eve/engine' } })],
    ['another branch', 'GITHUB_PUSH', () => github('push', { ...PUSH, ref: 'refs/heads/dev' })],
    ['a tag of the branch’s name', 'GITHUB_PUSH', () => github('push', { ...PUSH, ref: 'refs/tags/main' })],
    ['fields that are missing', 'GITHUB_PUSH', () => github('push', {})],
    [
      'fields of other types',
      'GITHUB_PUSH',
      () => github('push', { ref: ['refs/heads/main'], repository: 'ada/engine' }),
    ],
    [
      'another action',
      'GITHUB_PULL_REQUEST',
      () => github('pull_request', { action: 'closed', pull_request: { base: { ref: 'main' } } }),
    ],
    [
      'a run that has not ended',
      'GITHUB_WORKFLOW_RUN',
      () => github('workflow_run', { workflow_run: { conclusion: null } }),
    ],
    [
      'another event of Stripe',
      'STRIPE_INVOICE_PAID',
      () => stripe({ id: 'evt_1', type: 'invoice.finalized', livemode: true }),
    ],
    [
      'a test event of Stripe',
      'STRIPE_INVOICE_PAID',
      () => stripe({ id: 'evt_1', type: 'invoice.paid', livemode: false }),
    ],
    ['an event that is not chosen', 'STRIPE_EVENT', () => stripe({ id: 'evt_1', type: 'payout.failed' })],
    ['another type', 'WEBHOOK_STANDARD', () => standard({ type: 'lead.deleted' })],
  ])('202 without an execution: %s', async (_what, slug, signed) => {
    const { send, executions } = await waiting(slug);
    const { status, body } = await send(signed());
    expect([status, body]).toEqual([202, NOTHING]);
    expect(await executions()).toEqual([]);
  });
});

describe('400, and nothing runs', () => {
  const changed = ({ headers, body }: Signed): Signed => ({ headers, body: body.replace('{', '{ ') });
  test.each<[string, keyof typeof TRIGGERS, () => Signed]>([
    ['no signature', 'GITHUB_PUSH', () => ({ ...github('push', PUSH), headers: { 'X-GitHub-Event': 'push' } })],
    ['another secret', 'GITHUB_PUSH', () => github('push', PUSH, { secret: `${SECRET}!` })],
    ['another body', 'GITHUB_PUSH', () => changed(github('push', PUSH))],
    [
      'the old signature of GitHub',
      'GITHUB_PUSH',
      () => ({
        body: '{}',
        headers: { 'X-GitHub-Event': 'push', 'X-Hub-Signature': `sha1=${hmac(SECRET, '{}', 'hex', 'sha1')}` },
      }),
    ],
    [
      'no JSON',
      'GITHUB_PUSH',
      () => ({
        body: 'x',
        headers: { 'X-GitHub-Event': 'push', 'X-Hub-Signature-256': `sha256=${hmac(SECRET, 'x')}` },
      }),
    ],
    ['an array', 'GITHUB_PUSH', () => github('push', [PUSH])],
    [
      'another secret of Stripe',
      'STRIPE_EVENT',
      () => stripe({ id: 'e', type: 'payout.paid' }, { secret: `${STRIPE_SECRET}0` }),
    ],
    ['an old time', 'STRIPE_EVENT', () => stripe({ id: 'e', type: 'payout.paid' }, { time: seconds(-301) })],
    ['a time in the future', 'STRIPE_EVENT', () => stripe({ id: 'e', type: 'payout.paid' }, { time: seconds(301) })],
    ['no time', 'STRIPE_EVENT', () => stripe({ id: 'e', type: 'payout.paid' }, { time: 'now' })],
    ['no id', 'STRIPE_EVENT', () => stripe({ type: 'payout.paid' })],
    ['another body of Stripe', 'STRIPE_EVENT', () => changed(stripe({ id: 'e', type: 'payout.paid' }))],
    [
      'another id',
      'WEBHOOK_STANDARD',
      () => ({
        ...standard({ type: 'lead.created' }),
        headers: { ...standard({ type: 'lead.created' }).headers, 'webhook-id': 'other' },
      }),
    ],
    [
      'a time beyond the tolerance',
      'WEBHOOK_STANDARD',
      () => standard({ type: 'lead.created' }, { time: seconds(-61) }),
    ],
    ['no signature of any sender', 'WEBHOOK_SIGNED', () => ({ body: '{}', headers: {} })],
    ['an empty signature', 'WEBHOOK_SIGNED', () => ({ body: '{}', headers: { 'X-Signature': '' } })],
    [
      'half a signature',
      'WEBHOOK_SIGNED',
      () => ({ body: '{}', headers: { 'X-Signature': hmac(SECRET, '{}').slice(0, 32) } }),
    ],
  ])('%s', async (_what, slug, signed) => {
    const { send, executions } = await waiting(slug);
    const { status, body } = await send(signed());
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.message + JSON.stringify(body.details)).not.toContain(SECRET);
    expect(await executions()).toEqual([]);
  });
});

test('a delivery of GitHub that is sent again under another id is the same one', async () => {
  const { send, executions } = await waiting('GITHUB_PUSH');
  for (let sent = 0; sent < 3; sent += 1) await send(github('push', PUSH)).expect(202);
  expect(await executions()).toHaveLength(1);
  await send(github('push', { ...PUSH, commits: [{ id: 'c2' }] })).expect(202);
  expect(await executions()).toHaveLength(2);
});

test('no one of 10,000 requests that are changed somewhere is taken for an event', () => {
  let seed = 12;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed % below;
  };
  const good: [keyof typeof TRIGGERS, Signed][] = [
    ['GITHUB_PUSH', github('push', PUSH)],
    ['STRIPE_EVENT', stripe({ id: 'evt_1', type: 'payout.paid' })],
    ['WEBHOOK_STANDARD', standard({ type: 'lead.created' })],
    ['WEBHOOK_SIGNED', { body: '{"a":[1,2]}', headers: { 'X-Signature': hmac(SECRET, '{"a":[1,2]}') } }],
  ];
  const read = (slug: keyof typeof TRIGGERS, { headers, body }: { headers: Signed['headers']; body: Buffer }) => {
    const trigger = BUILTIN_TRIGGERS.find((each) => each.slug === slug);
    if (!trigger) throw new Error(slug);
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return readDelivery(trigger, TRIGGERS[slug], { headers: lower, body, now: clock.now() }).kind;
  };
  for (const [slug, { headers, body }] of good) expect(read(slug, { headers, body: Buffer.from(body) })).toBe('event');
  for (let round = 0; round < 10_000; round += 1) {
    const [slug, { headers, body }] = good[random(good.length)] as [keyof typeof TRIGGERS, Signed];
    const bytes = Buffer.from(body);
    const at = random(bytes.length);
    const how = random(4);
    const mutated =
      how === 0
        ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
        : how === 1
          ? Buffer.concat([bytes.subarray(0, at), Buffer.from([random(256)]), bytes.subarray(at)])
          : how === 2
            ? bytes.subarray(0, at)
            : bytes.map((byte, place) => (place === at ? byte ^ (1 + random(255)) : byte));
    expect([round, read(slug, { headers, body: Buffer.from(mutated) })]).toEqual([round, 'refused']);
  }
});
