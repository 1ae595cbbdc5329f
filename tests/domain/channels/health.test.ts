import { noteSendOutcome, noteWebhook } from '../../../domain/channels/health.ts';
import { createChannelProblemReader } from '../../../jobs/channelProblems.ts';
import { markSilentConnections } from '../../../jobs/upkeep.ts';
import { channelPath, makeConnection, storedConnection, ZAPI_CREDENTIALS } from '../../support/channels/connections.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60_000;

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

let instances = 0;
async function connected() {
  const channel = await makeConnection(app, 'z_api');
  const settings = { channelSpecificConfig: { instanceId: `health-${++instances}` }, credentials: ZAPI_CREDENTIALS };
  await app.api('patch', channelPath(channel)).send(settings).expect(200);
  return channel;
}
const context = () => ({ database: app.database.database, clock, logger: { warn: () => {} } as never });
const heard = async (id: string, said: Parameters<typeof noteWebhook>[2] = []) =>
  noteWebhook(app.workspace.db, await storedConnection(app, id), said, clock.now());
const problemOf = async (id: string) => {
  const { problem_code, problem_message, problem_at } = await storedConnection(app, id);
  return problem_code && { code: problem_code, message: problem_message, at: problem_at };
};
const DISCONNECTED = { code: 'DISCONNECTED', message: 'The phone is off.' } as const;

describe('a webhook', () => {
  test('is written down once a minute at most', async () => {
    const { publicId } = await connected();
    const first = clock.now();
    await heard(publicId);
    clock.advance(MINUTE_MS / 2);
    await heard(publicId);
    expect((await storedConnection(app, publicId)).last_inbound_at).toEqual(first);
    clock.advance(MINUTE_MS);
    await heard(publicId);
    expect((await storedConnection(app, publicId)).last_inbound_at).toEqual(clock.now());
  });

  test('stores what it says last of the account, and since when', async () => {
    const { publicId } = await connected();
    const since = clock.now();
    await heard(publicId, [null, DISCONNECTED]);
    clock.advance(MINUTE_MS);
    await heard(publicId, [{ ...DISCONNECTED, message: `Still\0 off. ${'x'.repeat(2000)}` }]);
    const problem = await problemOf(publicId);
    expect(problem).toMatchObject({ code: 'DISCONNECTED', at: since });
    expect(problem?.message).toMatch(/^Still off\. x{988,989}$/);
    await heard(publicId, []);
    expect(await problemOf(publicId)).not.toBeNull();
    await heard(publicId, [DISCONNECTED, null]);
    expect(await problemOf(publicId)).toBeNull();
  });
});

describe('a sent message', () => {
  const outcome = async (id: string, result: Parameters<typeof noteSendOutcome>[2]) =>
    noteSendOutcome(app.workspace.db, await storedConnection(app, id), result, clock.now());

  test('a refusal that is about the account is a problem, until one is sent again', async () => {
    const { publicId } = await connected();
    await outcome(publicId, { kind: 'refused', code: '131026', message: 'Nobody there.' });
    expect(await problemOf(publicId)).toBeNull();
    await outcome(publicId, { kind: 'refused', code: '190', message: 'Expired.', problem: 'TOKEN_EXPIRED' });
    expect(await problemOf(publicId)).toEqual({ code: 'TOKEN_EXPIRED', message: 'Expired.', at: clock.now() });
    await outcome(publicId, { kind: 'sent', providerMessageId: 'm' });
    expect(await problemOf(publicId)).toBeNull();
  });
});

describe('no webhook for a day', () => {
  test('is a problem of active connections to a provider, until it calls', async () => {
    const [silent, called, off, unfinished, chat, known] = [
      await connected(),
      await connected(),
      await connected(),
      await makeConnection(app, 'z_api'),
      await makeConnection(app),
      await connected(),
    ];
    await app.api('patch', channelPath(chat)).send({ channelSpecificConfig: {} }).expect(200);
    await app.api('patch', channelPath(off)).send({ isActive: false }).expect(200);
    await heard(known.publicId, [DISCONNECTED]);
    await markSilentConnections.run(context());
    expect(await problemOf(silent.publicId)).toBeNull();
    clock.advance(DAY_MS - MINUTE_MS);
    await heard(called.publicId);
    clock.advance(2 * MINUTE_MS);
    await markSilentConnections.run(context());
    expect(await problemOf(silent.publicId)).toMatchObject({ code: 'NO_WEBHOOK', at: clock.now() });
    for (const { publicId } of [called, off, unfinished, chat]) expect(await problemOf(publicId)).toBeNull();
    expect((await problemOf(known.publicId))?.code).toBe('DISCONNECTED');
    // That a message can be sent says nothing of webhooks.
    const row = await storedConnection(app, silent.publicId);
    await noteSendOutcome(app.workspace.db, row, { kind: 'sent', providerMessageId: 'm' }, clock.now());
    expect(await problemOf(silent.publicId)).not.toBeNull();
    await heard(silent.publicId);
    expect(await problemOf(silent.publicId)).toBeNull();
  });
});

test('the metric counts problems of all workspaces, and asks once a minute', async () => {
  const { publicId } = await connected();
  const read = createChannelProblemReader(context());
  const count = async (reader = read) =>
    (await reader())?.find((each) => each.channel_type === 'z_api' && each.problem_code === 'NUMBER_BANNED')
      ?.connections;
  expect(await count()).toBeUndefined();
  await heard(publicId, [{ code: 'NUMBER_BANNED', message: 'Banned.' }]);
  expect(await count()).toBeUndefined();
  const fresh = createChannelProblemReader(context(), 0);
  expect(await count(fresh)).toBe(1);
  const { text } = await app.raw.get('/metrics');
  expect(text).toContain('guildhall_channel_problems{channel="z_api",problem="NUMBER_BANNED"} 1');
});
