import { type MessageExtent, wholeFrom } from '../../../runtime/prompt/shown.ts';

/** Messages of a user and replies by turns, each with so much beside it. */
const messages = (count: number, extra: number): MessageExtent[] =>
  Array.from({ length: count }, (_, place) => ({ seq: place + 1, isOfUser: place % 2 === 0, extra }));
const ALL = { callsFrom: 0, wholeFrom: 0 };

test.each([
  ['60,000 characters', 1_000_000, 60_000],
  ['three quarters of a character for each token of a small window', 4_000, 3_000],
])('everything is shown whole up to %s, and beyond that the newest turn alone', (_limit, window, most) => {
  expect(wholeFrom(messages(4, most / 4), null, window)).toEqual(ALL);
  expect(wholeFrom(messages(4, most / 4 + 1), null, window)).toEqual({ callsFrom: 0, wholeFrom: 3 });
  // From where on it was whole in the turn before, so that the next turns begin alike.
  expect(wholeFrom(messages(6, most / 4), { from: 0, window, callsFrom: 0, wholeFrom: 3 }, window)).toEqual({
    callsFrom: 0,
    wholeFrom: 3,
  });
});

test('forty messages have their calls, and of more the newest twenty', () => {
  expect(wholeFrom(messages(40, 1), null, 1_000_000)).toEqual(ALL);
  expect(wholeFrom(messages(41, 1), null, 1_000_000)).toEqual({ callsFrom: 22, wholeFrom: 41 });
});
