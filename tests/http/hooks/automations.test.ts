import { pino } from 'pino';
import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { addressOf, makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

const DAY_MS = 86_400_000;
const clock = new TestClock();
const lines: string[] = [];
let app: TestApp;
beforeAll(async () => {
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  app = await startTestApp({ clock, logger });
});
afterAll(() => app.close());
beforeEach(() => {
  lines.length = 0;
});

/** An automation with an address of its own, and its path. */
async function makeHook(fields: object = {}) {
  const { publicId: agentId } = await makeAgent(app);
  const automation = await makeAutomation(app, agentId, { triggerMode: 'webhook_url', ...fields });
  return { agentId, id: automation.publicId, path: addressOf(app, automation) };
}

const executions = (automationId: string) =>
  app.workspace.db
    .selectFrom('automation_executions')
    .selectAll()
    .where('automation_id', '=', automationId)
    .orderBy('id')
    .execute();

const EVENT = { event: 'lead.created', email: 'ada@example.com' };

describe('202', () => {
  test('an execution is dispatched and listed, with what was sent', async () => {
    const { agentId, id, path } = await makeHook();
    const { status, body } = await app.raw.post(`${path}?utm=1`).send(EVENT);
    expect([status, body]).toEqual([202, { executionPublicId: expect.any(String), status: 'DISPATCHED' }]);
    const listed = await app.api('get', `/agents/${agentId}/automations/${id}/executions`);
    expect(listed.body.items).toEqual([
      expect.objectContaining({ publicId: body.executionPublicId, status: 'DISPATCHED', triggeredBy: 'webhook_url' }),
    ]);
    expect((await executions(id))[0]?.event).toMatchObject({
      contentType: 'application/json',
      text: JSON.stringify(EVENT),
    });
  });

  test.each([
    ['application/json', '[1, "two"]', 'application/json', '[1, "two"]'],
    ['application/cloudevents+json; charset="UTF-8"', '{}', 'application/cloudevents+json', '{}'],
    [
      'application/x-www-form-urlencoded',
      'a=1+2&b=%C3%A9&a=3',
      'application/x-www-form-urlencoded',
      '{"a":["1 2","3"],"b":"é"}',
    ],
    ['application/x-www-form-urlencoded', '__proto__=x', 'application/x-www-form-urlencoded', '{"__proto__":"x"}'],
    ['text/plain', 'Order 12 shipped.\n', 'text/plain', 'Order 12 shipped.\n'],
    ['TEXT/CSV; charset=utf-8; header=present', 'a,b\n1,2', 'text/csv', 'a,b\n1,2'],
  ])('a body of %s', async (type, sent, contentType, text) => {
    const { id, path } = await makeHook();
    const { status } = await app.raw.post(path).set('Content-Type', type).send(sent);
    expect(status).toBe(202);
    expect((await executions(id))[0]?.event).toEqual({ contentType, text, digest: expect.any(String) });
  });

  test('a body of exactly 1 MiB', async () => {
    const { path } = await makeHook();
    const body = JSON.stringify('x'.repeat(1_048_576 - 2));
    expect((await app.raw.post(path).type('json').send(body)).status).toBe(202);
    expect((await app.raw.post(path).type('json').send(`${body} `)).body.code).toBe('PAYLOAD_TOO_LARGE');
  });

  test('each request without a key is a run of its own', async () => {
    const { id, path } = await makeHook();
    await Promise.all([1, 2, 3].map(() => app.raw.post(path).send(EVENT).expect(202)));
    expect(await executions(id)).toHaveLength(3);
  });

  test.each(['Idempotency-Key', 'webhook-id'])('requests with one %s are one run for 24 hours', async (header) => {
    const { id, path } = await makeHook();
    const ask = () => app.raw.post(path).set(header, 'msg_1').send(EVENT);
    const answers = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body.executionPublicId)).size).toBe(1);
    clock.advance(DAY_MS - 1);
    expect((await ask()).body.executionPublicId).toBe(answers[0]?.body.executionPublicId);
    expect(await executions(id)).toHaveLength(1);
    clock.advance(1);
    expect((await ask()).body.executionPublicId).not.toBe(answers[0]?.body.executionPublicId);
    expect(await executions(id)).toHaveLength(2);
  });

  test('an Idempotency-Key counts before a webhook-id, and one of another automation is another key', async () => {
    const [one, other] = [await makeHook(), await makeHook()];
    await app.raw.post(one.path).set('Idempotency-Key', 'a').set('webhook-id', 'x').send(EVENT).expect(202);
    await app.raw.post(one.path).set('Idempotency-Key', 'b').set('webhook-id', 'x').send(EVENT).expect(202);
    await app.raw.post(other.path).set('Idempotency-Key', 'a').send(EVENT).expect(202);
    expect([(await executions(one.id)).length, (await executions(other.id)).length]).toEqual([2, 1]);
  });

  test('an execution waits for another one of the automation: only slots are skipped', async () => {
    const { id, path } = await makeHook();
    await app.raw.post(path).send(EVENT).expect(202);
    await app.workspace.db.updateTable('automation_executions').set({ status: 'RUNNING' }).execute();
    await app.raw.post(path).send(EVENT).expect(202);
    expect((await executions(id)).map(({ status }) => status)).toEqual(['RUNNING', 'DISPATCHED']);
  });
});

describe('refused, and nothing runs', () => {
  const json = 'application/json';
  test.each<[string, number, string, string, string | Buffer, Record<string, string>]>([
    ['an empty body', 400, 'VALIDATION_ERROR', json, '', {}],
    ['white space', 400, 'VALIDATION_ERROR', 'text/plain', ' \n', {}],
    ['no JSON', 400, 'VALIDATION_ERROR', json, '{"a":', {}],
    ['JSON that nests too deeply', 400, 'VALIDATION_ERROR', json, '['.repeat(101) + ']'.repeat(101), {}],
    ['very many values', 400, 'VALIDATION_ERROR', json, `[${'1,'.repeat(250_000)}1]`, {}],
    ['no UTF-8', 400, 'VALIDATION_ERROR', json, Buffer.from([0x22, 0xff, 0x22]), {}],
    ['NUL in a text', 400, 'VALIDATION_ERROR', 'text/plain', 'a\0b', {}],
    ['a blank in the key', 400, 'VALIDATION_ERROR', json, '{"a":1}', { 'Idempotency-Key': 'a b' }],
    ['a long webhook-id', 400, 'VALIDATION_ERROR', json, '{"a":1}', { 'webhook-id': 'a'.repeat(256) }],
    ['a packed body', 415, 'UNSUPPORTED_MEDIA_TYPE', json, '{"a":1}', { 'Content-Encoding': 'br' }],
    ['another type', 415, 'UNSUPPORTED_MEDIA_TYPE', 'image/png', 'x', {}],
    ['a form with files', 415, 'UNSUPPORTED_MEDIA_TYPE', 'multipart/form-data; boundary=x', '--x--', {}],
    ['another charset', 415, 'UNSUPPORTED_MEDIA_TYPE', 'text/plain; charset=utf-16', 'x', {}],
  ])('%s', async (_what, status, code, type, body, headers) => {
    const { id, path } = await makeHook();
    const answer = await app.raw
      .post(path)
      .set({ 'Content-Type': type, ...headers })
      .serialize((sent) => sent as string)
      .send(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await executions(id)).toEqual([]);
  });

  test('10 MB are 413', async () => {
    const { id, path } = await makeHook();
    const { status } = await app.raw
      .post(path)
      .type('json')
      .send(JSON.stringify('x'.repeat(10_000_000)));
    expect(status).toBe(413);
    expect(await executions(id)).toEqual([]);
  });

  test('422 IDEMPOTENCY_KEY_REUSED: a key that came with another body', async () => {
    const { id, path } = await makeHook();
    const ask = (body: object) => app.raw.post(path).set('Idempotency-Key', 'k').send(body);
    await ask(EVENT).expect(202);
    const { status, body } = await ask({ ...EVENT, email: 'eve@example.com' });
    expect([status, body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(await executions(id)).toHaveLength(1);
  });

  test('404: an unknown address, an inactive automation and another trigger mode are the same', async () => {
    const inactive = await makeHook();
    await app.api('patch', `/agents/${inactive.agentId}/automations/${inactive.id}`).send({ status: 'inactive' });
    const manual = await makeHook();
    await app.api('patch', `/agents/${manual.agentId}/automations/${manual.id}`).send({ triggerMode: 'manual' });
    const paths = [inactive.path, manual.path, `/hooks/automations/${'0'.repeat(40)}`, `/hooks/automations/${newId()}`];
    const answers: unknown[][] = [];
    for (const path of paths) {
      const { status, body } = await app.raw.post(path).send(EVENT);
      const { requestId: _, ...rest } = body;
      answers.push([status, rest]);
    }
    expect(answers[0]).toEqual([404, expect.objectContaining({ code: 'AUTOMATION_NOT_FOUND' })]);
    expect(answers).toEqual(paths.map(() => answers[0]));
    await app.api('patch', `/agents/${inactive.agentId}/automations/${inactive.id}`).send({ status: 'active' });
    await app.raw.post(inactive.path).send(EVENT).expect(202);
  });

  test('405 for GET, as a browser or a preview of a link sends it', async () => {
    expect((await app.raw.get((await makeHook()).path)).status).toBe(405);
  });

  test('429 OPERATION_LIMIT_REACHED when the month is used up; a repeated request is answered all the same', async () => {
    const { id, path } = await makeHook();
    const limit = (operations: number | null) =>
      app.database.database.system
        .updateTable('workspaces')
        .set({ operation_limit: operations })
        .where('id', '=', app.workspace.workspaceId)
        .execute();
    await app.raw.post(path).set('Idempotency-Key', 'k').send(EVENT).expect(202);
    await limit(0);
    const { status, body } = await app.raw.post(path).send(EVENT);
    const again = await app.raw.post(path).set('Idempotency-Key', 'k').send(EVENT);
    await limit(1);
    const below = await app.raw.post(path).send(EVENT);
    await limit(null);
    expect([status, body.code, again.status, below.status]).toEqual([429, 'OPERATION_LIMIT_REACHED', 202, 202]);
    expect(await executions(id)).toHaveLength(2);
  });

  test('429 RATE_LIMITED after 60 requests to one address within a minute', async () => {
    const { id, path } = await makeHook();
    for (let sent = 0; sent < 60; sent += 1)
      await app.raw.post(path).set('Idempotency-Key', 'k').send(EVENT).expect(202);
    const { status, body, headers } = await app.raw.post(path).send(EVENT);
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(await executions(id)).toHaveLength(1);
  });
});

test('no line of the log has the secret of an address, whatever happens to it', async () => {
  const { agentId, id, path } = await makeHook();
  const secret = path.split('/').at(-1) as string;
  await app.raw.post(path).send(EVENT).expect(202);
  await app.raw.post(path).type('image/png').send('nothing').expect(415);
  await app.raw.post(`${path}/x`).send(EVENT).expect(404);
  await app.raw.post(`${path}%`).send(EVENT).expect(400);
  await app.raw.get(path).expect(405);
  await app.api('delete', `/agents/${agentId}/automations/${id}`).expect(204);
  await app.raw.post(path).send(EVENT).expect(404);
  const metrics = await app.raw.get('/metrics');
  expect(lines.filter((line) => line.includes('triggerAutomation')).length).toBeGreaterThanOrEqual(3);
  expect(metrics.text).toContain('operation="triggerAutomation"');
  expect(lines.join('') + metrics.text).not.toContain(secret);
});
