import { pino } from 'pino';
import { fault } from '../../../core/errors.ts';
import type { Handler, Handlers, SentReply } from '../../../handlers/handler.ts';
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
