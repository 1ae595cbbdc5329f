import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { operations } from '../../generated/operations.ts';

/** Codes that no operation documents, because they belong to requests that the document does not describe. */
const OUTSIDE_OF_OPERATIONS: ErrorCode[] = [
  'EXPECTATION_FAILED',
  'INVALID_SIGNATURE',
  'METHOD_NOT_ALLOWED',
  'NOT_FOUND',
  'REQUEST_TIMEOUT',
];

/** Each code of the document with every status that an operation gives it. */
function documented(): Map<string, Set<number>> {
  const statuses = new Map<string, Set<number>>();
  for (const { errorCodes } of Object.values(operations)) {
    for (const [status, codes] of Object.entries(errorCodes)) {
      for (const code of codes) statuses.set(code, (statuses.get(code) ?? new Set()).add(Number(status)));
    }
  }
  return statuses;
}

test('every code has the one status under which operations document it', () => {
  const fromDocument = [...documented()].map(([code, statuses]) => [code, [...statuses]]);
  const fromRegistry = Object.entries(ERRORS)
    .filter(([code]) => !OUTSIDE_OF_OPERATIONS.includes(code as ErrorCode))
    // Documented as long as there are operations that this release does not serve.
    .filter(([code]) => code !== 'NOT_IMPLEMENTED' || fromDocument.some(([documentedCode]) => documentedCode === code))
    .map(([code, { status }]) => [code, [status]]);
  expect(Object.fromEntries(fromRegistry)).toEqual(Object.fromEntries(fromDocument));
});

test('every code has a public message', () => {
  const without = Object.entries(ERRORS).filter(([, { message }]) => !/^[A-Z].*\.$/.test(message));
  expect(without).toEqual([]);
});
