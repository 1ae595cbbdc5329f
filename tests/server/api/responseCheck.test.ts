import { pino } from 'pino';
import { fault } from '../../../core/errors.ts';
import type { Handler, Handlers, SentReply } from '../../../handlers/handler.ts';
import { createContract } from '../../../server/api/contract/contract.ts';
import { startTestApp } from '../../support/http/app.ts';

/** A handler that returns the response of the test's choice, documented or not. */
function answering(status: number, body: unknown): Handler<'getHealth'> {
  return async ({ reply }) => (reply as (status: number, body: unknown) => SentReply<'getHealth'>)(status, body);
}

const IDS = { workspacePublicId: crypto.randomUUID(), apiKeyPublicId: crypto.randomUUID() };

/** What `GET /health` gets when this is its handler, and what the service logs then. */
async function answerOf(getHealth: Handler<'getHealth'>): Promise<{ status: number; body: unknown; logged: string }> {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
  const app = await startTestApp({ handlers: { getHealth } satisfies Handlers, logger });
  try {
    const { status, body } = await app.api('get', '/health');
    return { status, body, logged: lines.join('') };
  } finally {
    await app.close();
  }
}

describe('an answer that the document does not have', () => {
  test('is sent when it is documented', async () => {
    expect(await answerOf(answering(200, { status: 'ok', ...IDS }))).toMatchObject({ status: 200, logged: '' });
  });

  test.each([
    ['a field is missing', 200, { status: 'ok' }, "must have required property 'workspacePublicId'"],
    ['a field has another type', 200, { status: 'ok', ...IDS, apiKeyPublicId: 7 }, '/apiKeyPublicId'],
    ['a format is not kept', 200, { status: 'ok', ...IDS, apiKeyPublicId: 'seven' }, 'must match format'],
    ['the status is not listed', 202, { status: 'ok', ...IDS }, 'status 202 is not documented'],
  ])('is 500 in tests when %s', async (_case, status, body, reason) => {
    const answer = await answerOf(answering(status, body));
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
    expect(answer.logged).toContain(reason);
  });

  test('is 500 in tests when an error has a status that the operation does not list', async () => {
    const answer = await answerOf(() => Promise.reject(fault('AGENT_NAME_TAKEN')));
    expect(answer.status).toBe(500);
    expect(answer.logged).toContain('status 409 is not documented');
  });

  test('is 500 in tests when a value is not in its list, though clients must expect values to come', async () => {
    const surprise = Object.assign(fault('VALIDATION_ERROR'), { code: 'NEW_CODE' });
    const answer = await answerOf(() => Promise.reject(surprise));
    expect(answer.status).toBe(500);
    expect(answer.logged).toContain('must be a value that the document knows');
  });
});

describe('headers that the document does not have', () => {
  const safe = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  const own = { 'x-request-id': 'a', ...safe };
  const limit = { RateLimit: '"key"; r=0; t=60', 'RateLimit-Policy': '"key"; q=1; w=60; pk=:YWI2ZGRjNDQ1NjY0:' };

  test.each<[string, number, Record<string, string>, RegExp | undefined]>([
    ['are none when all fit', 200, { ...own, ...limit, 'content-type': 'text/plain' }, undefined],
    ['lack one that is required', 200, safe, /200 lacks X-Request-Id/],
    ['may be kept by caches', 200, { ...own, 'cache-control': 'private' }, /200 has Cache-Control: private/],
    [
      'may be taken for another type',
      200,
      { 'x-request-id': 'a', 'cache-control': 'no-store' },
      /200 lacks X-Content-Type/,
    ],
    ['lack the challenge of 401', 401, own, /401 lacks WWW-Authenticate/],
    ['have one too many', 200, { ...own, 'x-powered-by': 'us' }, /200 has x-powered-by, which the document/],
    ['count the requests of no key', 401, { ...own, 'www-authenticate': 'Bearer', ...limit }, /401 has ratelimit/],
    ['have another form', 200, { ...own, 'x-request-id': 'a b' }, /200 has X-Request-Id: a b/],
    ['have a time that is no number', 503, { ...own, 'retry-after': 'soon' }, /503 has Retry-After: soon/],
  ])('%s', async (_case, status, headers, reason) => {
    const { operations, checkHeaders } = await createContract({});
    const health = operations.find(({ operationId }) => operationId === 'getHealth');
    const wrong = health && checkHeaders(health, status, headers);
    if (reason) expect(wrong).toMatch(reason);
    else expect(wrong).toBeUndefined();
  });

  test('make the response a 500 in tests', async () => {
    const surprise = fault('INVALID_API_KEY', undefined, {
      headers: { 'WWW-Authenticate': 'Bearer', 'Retry-After': '1' },
    });
    const answer = await answerOf(() => Promise.reject(surprise));
    expect(answer.status).toBe(500);
    expect(answer.logged).toContain('401 has retry-after, which the document does not list');
  });
});
