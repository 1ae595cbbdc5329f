import { createLogger } from '../../server/logger.ts';

test('what PostgreSQL quotes of a row stays out of the log, and the rest of its error does not', () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(line) });
  const quoted = { detail: 'Failing row contains (a prompt).', where: 'JSON data, line 1: {"a prompt"' };
  const error = Object.assign(new Error('violates check constraint'), { ...quoted, code: '23514', table: 'agents' });
  logger.error({ requestId: 'r', err: error }, 'request failed');
  expect(lines.join('')).not.toContain('a prompt');
  expect(JSON.parse(lines.join(''))).toMatchObject({
    requestId: 'r',
    err: { message: 'violates check constraint', code: '23514', table: 'agents', stack: expect.any(String) },
  });
});
