import { followUpText } from '../../../runtime/followUps/text.ts';

const HOUR_MS = 3_600_000;

test('it is an instruction of the service, and says so', () => {
  const text = followUpText({ followUpPrompt: 'Ask for the order number.' }, 2 * HOUR_MS);
  expect(text).toMatch(/^<service-instruction>\n.*not a message of the user.*<\/service-instruction>$/s);
  expect(text).toContain('What to write: Ask for the order number.');
});

test.each([null, '', ' \n'])(
  'an agent without a prompt of its own (%j) takes up the conversation',
  (followUpPrompt) => {
    expect(followUpText({ followUpPrompt }, HOUR_MS)).toContain(
      'What to write: take up where the conversation stopped',
    );
  },
);

test.each([
  [0, '1 minute.'],
  [60_000, '1 minute.'],
  [119 * 60_000 + 59_999, '119 minutes.'],
  [2 * HOUR_MS, '2 hours.'],
  [47.9 * HOUR_MS, '47 hours.'],
  [48 * HOUR_MS, '2 days.'],
])('a silence of %d ms is described as %s', (ms, told) => {
  expect(followUpText({ followUpPrompt: null }, ms)).toContain(`has not written for ${told}`);
});
