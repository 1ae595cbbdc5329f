import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { fault } from '../../../core/errors.ts';
import { removeExcessKeys } from '../../../db/queries/workspaces/idempotencyKeys.ts';
import { addAgent } from '../../../domain/agents/addAgent.ts';
import { pending } from '../../../generated/handlers.ts';
import { type OperationId, operations } from '../../../generated/operations.ts';
import { agentBody } from '../../../handlers/agents/agentBody.ts';
import type { Handlers } from '../../../handlers/handler.ts';
import { forgetAnswers } from '../../../jobs/upkeep.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { operationIds, parametersOf } from '../../support/http/exampleRequest.ts';
import { poll } from '../../support/poll.ts';
import { CREATES, sendKeyed } from './keyedRequests.ts';

const DAY_MS = 24 * 3_600_000;

let app: TestApp;
const clock = new TestClock();
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const withKey = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
/** Headers that are the same each time. */
const withoutIds = ({ 'x-request-id': _id, date: _date, ...headers }: Record<string, string>) => headers;
const creates = Object.keys(CREATES) as OperationId[];
const agentsNamed = async (name: string, on = app.workspace) =>
  (await on.db.selectFrom('agents').select('id').where('name', '=', name).execute()).length;

/** Changes what is stored under the keys of the workspace. */
const setRecords = (set: ReturnType<typeof sql>) =>
  sql`update idempotency_keys set ${set} where workspace_id = ${app.workspace.workspaceId}`.execute(
    app.database.database.system,
  );
const RUNNING = sql`status = null, body = null, claim_id = gen_random_uuid(), claimed_until = now() + interval '20 seconds'`;
const DIED = sql`claimed_until = case when claim_id is not null then now() - interval '1 second' end`;

test('every served operation that creates and takes the header is tested here', () => {
  const declaring = operationIds.filter(
    (id) => parametersOf(id).some(({ name }) => name === 'Idempotency-Key') && !pending.includes(id),
  );
  expect(declaring.filter((id) => !['sendMessage', 'streamMessage'].includes(id)).toSorted()).toEqual(
    creates.toSorted(),
  );
});

describe.each(creates)('%s', (id) => {
  const request = () => {
    const make = CREATES[id];
    if (!make) throw new Error(id);
    return make(app);
  };

  test('a retry gets the first answer, byte for byte, under a request id of its own, and nothing is written', async () => {
    const made = await request();
    const headers = withKey();
    const first = await sendKeyed(app, made, headers);
    expect([first.text, first.status < 300]).toEqual([first.text, true]);
    const before = await tableContents(app.database.name);
    const second = await sendKeyed(app, made, headers);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(withoutIds(second.headers)).toEqual(withoutIds(first.headers));
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await tableContents(app.database.name)).toEqual(before);
  });

  test('while the first request runs, a retry is 409 with Retry-After; when its process is dead, a retry takes over', async () => {
    const made = await request();
    const headers = withKey();
    await sendKeyed(app, made, headers);
    await setRecords(RUNNING);
    const running = await sendKeyed(app, made, headers);
    expect([running.status, running.body.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    expect(Number(running.headers['retry-after'])).toBeGreaterThan(0);
    await setRecords(DIED);
    const taken = await sendKeyed(app, made, headers);
    expect(taken.body.code).not.toBe('IDEMPOTENCY_IN_PROGRESS');
    const again = await sendKeyed(app, made, headers);
    expect([again.status, { ...again.body, requestId: '' }]).toEqual([taken.status, { ...taken.body, requestId: '' }]);
  });

  if (operations[id].requestBody !== 'none') {
    test('another body under the key is 422 and does nothing', async () => {
      const made = await request();
      const headers = withKey();
      await sendKeyed(app, made, headers);
      const other = made.file
        ? { path: made.path, file: { ...made.file, content: Buffer.concat([made.file.content, Buffer.from(' ')]) } }
        : { path: made.path, body: made.otherBody ?? {} };
      const before = await tableContents(app.database.name);
      const { status, body } = await sendKeyed(app, other, headers);
      expect([status, body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      expect(await tableContents(app.database.name)).toEqual(before);
    });
  }
});

describe('what is kept', () => {
  test('a final 4xx: the retry gets it although it would succeed now, with the request id of the retry', async () => {
    const headers = withKey();
    const body = { name: 'Taken' };
    const { publicId } = (await app.api('post', '/agents').send(body)).body;
    const first = await app.api('post', '/agents').set(headers).send(body);
    await app.api('delete', `/agents/${publicId}`);
    const second = await app.api('post', '/agents').set(headers).send(body);
    expect([first.body.code, second.status]).toEqual(['AGENT_NAME_TAKEN', 409]);
    expect({ ...second.body, requestId: '' }).toEqual({ ...first.body, requestId: '' });
    expect(second.body.requestId).toBe(second.headers['x-request-id']);
    expect(second.body.requestId).not.toBe(first.body.requestId);
    expect(await agentsNamed('Taken')).toBe(1); // the deleted one
  });

  test('the order of properties does not count', async () => {
    const headers = withKey();
    const one = await app.api('post', '/agents').set(headers).send({ name: 'Ordered', description: 'Yes.' });
    const two = await app.api('post', '/agents').set(headers).send({ description: 'Yes.', name: 'Ordered' });
    expect([one.status, two.text]).toEqual([201, one.text]);
  });

  test('a request that the schema refuses is not kept', async () => {
    const headers = withKey();
    expect((await app.api('post', '/agents').set(headers).send({ name: 1 })).status).toBe(400);
    expect((await app.api('post', '/agents').set(headers).send({ name: 'Corrected' })).status).toBe(201);
  });

  test('a failure of the service is not kept: the retry does the work, with another body too', async () => {
    const failures = ['UNAVAILABLE', 'INTERNAL_ERROR'] as const;
    let runs = 0;
    const createAgent: Handlers['createAgent'] = async (context) => {
      const failure = failures[runs++];
      const agent = await addAgent(context, context.body);
      if (failure) throw fault(failure);
      return context.reply(201, agentBody(agent, context.runtime));
    };
    const failing = await startTestApp({ handlers: { createAgent }, database: app.database, clock });
    const headers = withKey();
    const ask = (name: string) => failing.api('post', '/agents', app.workspace.apiKey).set(headers).send({ name });
    expect([(await ask('Fails')).status, (await ask('Fails')).status]).toEqual([503, 500]);
    expect(await agentsNamed('Fails')).toBe(0);
    expect([(await ask('Works')).status, (await ask('Fails')).body.code]).toEqual([201, 'IDEMPOTENCY_KEY_REUSED']);
    await failing.close();
  });

  test('the work of a process that has lost its claim is undone', async () => {
    const createAgent: Handlers['createAgent'] = async (context) => {
      const agent = await addAgent(context, context.body);
      // This process had stopped for longer than its claim holds, and another one has taken it.
      await sql`update idempotency_keys set claim_id = gen_random_uuid(), claimed_until = now() + interval '20 seconds'
        where claim_id = ${context.claim?.claimId}`.execute(app.workspace.db);
      return context.reply(201, agentBody(agent, context.runtime));
    };
    const slow = await startTestApp({ handlers: { createAgent }, database: app.database, clock });
    const { status, body } = await slow
      .api('post', '/agents', app.workspace.apiKey)
      .set(withKey())
      .send({ name: 'Too slow' });
    expect([status, body.code, await agentsNamed('Too slow')]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', 0]);
    // The sweep leaves claims of living processes alone.
    await setRecords(DIED);
    await slow.close();
  });

  test('a source that is added under a key is processed', async () => {
    const working = await startTestApp({ database: app.database, clock, jobs: true });
    const made = { path: '/knowledge-sources', body: { name: 'Processed', textContent: 'Thirty days.' } };
    const added = await sendKeyed(working, made, withKey(), app.workspace.apiKey);
    const read = () => app.api('get', `/knowledge-sources/${added.body.publicId}`);
    await poll(
      async () => (await read()).body.processingStatus,
      (status) => status === 'COMPLETED',
    );
    await working.close();
  });

  test('after 24 hours the key is new', async () => {
    const headers = withKey();
    const first = await app.api('post', '/agents').set(headers).send({ name: 'Yesterday' });
    clock.advance(DAY_MS - 1);
    expect((await app.api('post', '/agents').set(headers).send({ name: 'Yesterday' })).text).toBe(first.text);
    clock.advance(1);
    const { status } = await app.api('post', '/agents').set(headers).send({ name: 'Today' });
    expect([first.status, status]).toEqual([201, 201]);
  });
});

describe('what a key belongs to', () => {
  test('the workspace: another one has it free', async () => {
    const headers = withKey();
    const ours = await app.api('post', '/agents').set(headers).send({ name: 'Both' });
    const theirs = await app.api('post', '/agents', app.stranger.apiKey).set(headers).send({ name: 'Both' });
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(ours.body.publicId).not.toBe(theirs.body.publicId);
    const { rows } = await sql<{ workspace_id: string }>`select distinct workspace_id from idempotency_keys`.execute(
      app.workspace.db,
    );
    expect(rows).toEqual([{ workspace_id: app.workspace.workspaceId }]);
  });

  test('the path: another one has it free', async () => {
    const headers = withKey();
    const one = await makeAgent(app);
    const two = await makeAgent(app);
    const body = { name: 'Greet', command: 'greet', prompt: 'Say hello.' };
    const first = await app.api('post', `/agents/${one.publicId}/commands`).set(headers).send(body);
    const second = await app.api('post', `/agents/${two.publicId}/commands`).set(headers).send(body);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.publicId).not.toBe(second.body.publicId);
  });

  test('an operation that takes no key handles each request', async () => {
    const headers = withKey();
    const { publicId } = await makeAgent(app);
    expect((await app.api('patch', `/agents/${publicId}`).set(headers).send({ name: 'One' })).body.name).toBe('One');
    expect((await app.api('patch', `/agents/${publicId}`).set(headers).send({ name: 'Two' })).body.name).toBe('Two');
  });
});

describe('keys that are no keys', () => {
  test.each([
    ['empty', ''],
    ['longer than 255 characters', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['with a letter that is not ASCII', 'é'],
  ])('%s: 400', async (_title, key) => {
    const { status, body } = await app.api('post', '/agents').set(withKey(key)).send({ name: 'Keyless' });
    expect([status, body.code, body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', '/header/idempotency-key']);
    expect(await agentsNamed('Keyless')).toBe(0);
  });

  test('255 visible characters are one', async () => {
    const { status } = await app
      .api('post', '/agents')
      .set(withKey(`!~${'k'.repeat(253)}`))
      .send({ name: 'Long key' });
    expect(status).toBe(201);
  });
});

describe('200 equal requests at once', () => {
  const outcomes = (answers: { status: number; body: { code?: string } }[]) =>
    new Set(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()));

  test('make one agent', async () => {
    const headers = withKey();
    const body = { name: 'Two hundred' };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => app.api('post', '/agents').set(headers).send(body)),
    );
    expect([...outcomes(answers)].filter((each) => each !== '201' && each !== '409 IDEMPOTENCY_IN_PROGRESS')).toEqual(
      [],
    );
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect(await agentsNamed('Two hundred')).toBe(1);
  });

  test('make one knowledge source of one file', async () => {
    const headers = withKey();
    const made = { path: '/knowledge-sources', file: { content: Buffer.from('Once.'), name: 'once.md' } };
    const answers = await Promise.all(Array.from({ length: 200 }, () => sendKeyed(app, made, headers)));
    expect([...outcomes(answers)].filter((each) => each !== '201' && each !== '409 IDEMPOTENCY_IN_PROGRESS')).toEqual(
      [],
    );
    const rows = await app.workspace.db
      .selectFrom('knowledge_sources')
      .select('id')
      .where('name', '=', 'once.md')
      .execute();
    expect(rows).toHaveLength(1);
  });
});

describe('the sweep', () => {
  const records = async () =>
    Number((await sql<{ n: number }>`select count(*) as n from idempotency_keys`.execute(app.workspace.db)).rows[0]?.n);

  test('forgets what has expired, and nothing else', async () => {
    await app.api('post', '/agents').set(withKey()).send({ name: 'Forgotten' });
    clock.advance(DAY_MS);
    await app.api('post', '/agents').set(withKey()).send({ name: 'Remembered' });
    await forgetAnswers.run({ database: app.database.database, clock, logger: pino({ level: 'silent' }) });
    expect(await records()).toBe(1);
  });

  test.each([
    ['records', () => ({ records: 2, bytes: 1e9 })],
    ['bytes', (answer: number) => ({ records: 1e9, bytes: 2.5 * answer })],
  ])('forgets the oldest answers of a workspace that has too many %s, and none of another', async (kind, most) => {
    const theirs = withKey();
    await app
      .api('post', '/agents', app.stranger.apiKey)
      .set(theirs)
      .send({ name: `Stranger ${kind}` });
    const keys = [withKey(), withKey(), withKey(), withKey()];
    const bodies = keys.map((_key, place) => ({ name: `Kept ${kind} ${place}`, description: 'x'.repeat(300) }));
    let size = 0;
    for (const [place, key] of keys.entries()) {
      clock.advance(1000);
      const { status, text } = await app.api('post', '/agents').set(key).send(bodies[place]);
      expect(status).toBe(201);
      size = Buffer.byteLength(text);
    }
    await removeExcessKeys(app.database.database.system, most(size));
    const repeated = [];
    for (const [place, key] of keys.entries()) {
      repeated.push((await app.api('post', '/agents').set(key).send(bodies[place])).status);
    }
    expect(repeated).toEqual([409, 409, 201, 201]);
    const again = await app
      .api('post', '/agents', app.stranger.apiKey)
      .set(theirs)
      .send({ name: `Stranger ${kind}` });
    expect(again.status).toBe(201);
  });
});
