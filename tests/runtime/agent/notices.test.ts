import { MAX_STEPS, noticeOf, type RunEnd } from '../../../runtime/agent/notices.ts';

type Answer = RunEnd['answer'];

const notice = (answer: Answer, end: Partial<RunEnd> = {}) =>
  noticeOf({ answer, isSilent: answer.text === '', exceededBytes: undefined, reachedLimit: undefined, ...end });

/** Every reason that is not a whole answer, with text and without. */
test.each([
  ['length', "[The answer ends here: it reached the model's limit of length.]", 'the same'],
  [
    'content-filter',
    '[The answer ends here: the provider of the model withheld the rest.]',
    '[The provider of the model withheld the answer.]',
  ],
  ['refusal', '[The answer ends here: the model refused to go on.]', '[The model refused to answer.]'],
  ['empty', undefined, '[The model gave no answer, also when it was asked again. Send the message again.]'],
  ['stop', undefined, '[The model gave no answer, also when it was asked again. Send the message again.]'],
] as const)('an answer that ended by %s says so', (finishReason, withText, withoutText) => {
  expect(notice({ finishReason, text: 'It was' })).toBe(withText);
  expect(notice({ finishReason, text: ' \n' }, { isSilent: true })).toBe(
    withoutText === 'the same' ? withText : withoutText,
  );
});

test('one reason is told, the most exact one', () => {
  const cut: Answer = { finishReason: 'length', text: '' };
  expect(notice({ ...cut, isOnlyThoughts: true })).toContain('used all of its tokens for thinking');
  expect(notice({ ...cut, isOnlyThoughts: true }, { exceededBytes: 4_000 })).toContain('larger than 4,000 bytes');
  expect(notice({ finishReason: 'stop', text: 'So far.' }, { reachedLimit: 'steps' })).toContain(`${MAX_STEPS} steps`);
  expect(notice({ finishReason: 'stop', text: '' }, { isSilent: false })).toBeUndefined();
});
