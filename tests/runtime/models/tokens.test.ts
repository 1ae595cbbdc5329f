import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { countTokens } from '../../../runtime/models/tokens.ts';

const EVERYTHING = Number.POSITIVE_INFINITY;

describe('countTokens', () => {
  test.each([
    [''],
    ['Hello, world!'],
    ['Grüße aus Köln: 12345 × 67 = ?'],
    ['会議は火曜日に開かれ、予算について話し合った。'],
    ['👩‍👩‍👧‍👦 🇧🇷 \u0301'],
    ['function f(x) {\n\treturn x ** 2; // 平方\n}\n\n\n'],
    ['a'.repeat(128)],
  ])('agrees with the encoding for %j', async (text) => {
    expect(await countTokens(text, EVERYTHING)).toBe(encode(text).length);
  });

  test('long prose is counted to within a few in a thousand, the second time from memory', async () => {
    const text = 'The committee met on Tuesday, and adjourned after two hours of debate about 1,234 things. '.repeat(
      2_000,
    );
    const exact = encode(text).length;
    const counted = await countTokens(text, EVERYTHING);
    expect(counted).toBeGreaterThanOrEqual(exact);
    expect(counted).toBeLessThan(exact * 1.003);
    expect(await countTokens(text, EVERYTHING)).toBe(counted);
  });

  test('special tokens in a text are text', async () => {
    expect(await countTokens('a <|endoftext|> b <|im_start|>', EVERYTHING)).toBeGreaterThan(8);
  });

  test('stops above the limit, and does not remember a count that it did not finish', async () => {
    const text = 'one two three four five six seven '.repeat(10_000);
    const stopped = await countTokens(text, 100);
    expect(stopped).toBeGreaterThan(100);
    expect(stopped).toBeLessThan(10_000);
    expect(await countTokens(text, EVERYTHING)).toBeGreaterThan(60_000);
  });

  /** A megabyte each; uncut, any of these takes minutes to hours. The runner's limit of five seconds is the assertion. */
  test.each([
    ['one letter', 'a'.repeat(1_000_000)],
    ['upper case', 'A'.repeat(1_000_000)],
    ['spaces', ' '.repeat(1_000_000)],
    ['line ends', '\n'.repeat(1_000_000)],
    ['spaces and line ends', ' \n'.repeat(500_000)],
    ['slashes and line ends', '/\n'.repeat(500_000)],
    ['punctuation', '!?'.repeat(500_000)],
    ['digits', '1'.repeat(1_000_000)],
    ['combining marks', '\u0301'.repeat(500_000)],
    ['emoji', '😀'.repeat(250_000)],
    ['ideographs', '的一是在'.repeat(83_000)],
    ['NUL', '\0'.repeat(1_000_000)],
    ['halves of surrogate pairs', '\ud800'.repeat(300_000)],
  ])('a megabyte of %s', async (_title, text) => {
    const tokens = await countTokens(text, EVERYTHING);
    expect(tokens).toBeGreaterThan(1_000);
    expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
  });

  test('a third of a megabyte of random letters', async () => {
    let state = 1;
    const letters = Array.from({ length: 333_000 }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return String.fromCharCode(97 + (state % 26));
    }).join('');
    expect(await countTokens(letters, EVERYTHING)).toBeLessThan(333_000);
  });
});
