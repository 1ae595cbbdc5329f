import { MAX_RESULT_CHARACTERS, resultOf } from '../../../../clients/mcp/tools/results.ts';

type Json = Record<string, unknown>;

const item = (index: number, size: number) => ({ publicId: `id-${index}`, text: 'x'.repeat(size) });
const items = (count: number, size: number) => Array.from({ length: count }, (_, index) => item(index, size));

/** The structured content, which is also the text, and fits. */
function shown(answer: unknown, args: Json = {}, paged = false): Json {
  const { content, structuredContent, isError } = resultOf(answer, { args, paged });
  expect(isError).toBeUndefined();
  expect(JSON.parse((content[0] as { text: string }).text)).toEqual(structuredContent);
  expect(JSON.stringify(structuredContent).length).toBeLessThanOrEqual(MAX_RESULT_CHARACTERS);
  return structuredContent as Json;
}

test('what fits is shown whole', () => {
  const page = { items: items(20, 100), page: 1, limit: 20, total: 20, totalPages: 1 };
  expect(shown(page, {}, true)).toEqual(page);
});

describe('a page that is too large', () => {
  test.each([
    [1, 100],
    [3, 100],
    [7, 30],
  ])('page %i of %i items: walking on as it says gives every item', (page, limit) => {
    const all = items(page * limit, 1500);
    const seen = new Set<string>();
    let args: Json = { page, limit };
    for (let round = 0; round < 20; round += 1) {
      const from = (Number(args.page) - 1) * Number(args.limit);
      const answer = { items: all.slice(from, from + Number(args.limit)), total: all.length };
      const { items: part, cut } = shown(answer, args, true);
      for (const { publicId } of part as { publicId: string }[]) seen.add(publicId);
      const next = /Go on with (\{.*\})\.$/.exec(String(cut ?? ''))?.[1];
      args = next === undefined ? { ...args, page: Number(args.page) + 1 } : JSON.parse(next);
      // A cut page goes on where it ended, or less than a page before.
      const to = from + (part as unknown[]).length;
      const start = (Number(args.page) - 1) * Number(args.limit);
      if (next !== undefined) expect(start <= to && start > to - Number(args.limit)).toBe(true);
      if ((Number(args.page) - 1) * Number(args.limit) >= all.length) break;
    }
    const wanted = all.slice((page - 1) * limit).map(({ publicId }) => publicId);
    expect(wanted.filter((id) => !seen.has(id))).toEqual([]);
  });

  test('says how many items are there, and keeps the other fields', () => {
    const { cut, total, items: part } = shown({ items: items(100, 1500), total: 100 }, {}, true);
    const kept = (part as unknown[]).length;
    expect(total).toBe(100);
    expect(cut).toBe(`Only the first ${kept} of 100 items are here. Go on with {"limit": ${kept}, "page": 2}.`);
  });
});

test('a list without pages says so', () => {
  expect(shown(items(100, 1500)).cut).toMatch(/^Only the first \d+ of 100 items are here\. This list has no pages: /);
});

test('one item that is too large has its long texts cut', () => {
  const { items: part, cut } = shown({ items: items(3, 100_000) }, {}, true) as { items: Json[]; cut: string };
  expect(part).toHaveLength(1);
  expect(part[0]?.text).toMatch(/^x{8000}… \(100000 characters\)$/);
  expect(cut).toMatch(/Go on with \{"limit": 1, "page": 2\}\.$/);
});

test('one object that is too large has its long texts cut, the short ones stay', () => {
  const answer = { name: 'Support', systemPrompt: 'p'.repeat(200_000) };
  const { name, systemPrompt, cut } = shown(answer);
  expect(name).toBe('Support');
  expect(systemPrompt).toMatch(/^p{8000}… \(200000 characters\)$/);
  expect(cut).toMatch(/^Texts of more than 8000 characters are cut here\. /);
});

test('an object of very many parts has its lists cut', () => {
  const answer = { publicId: 'x', configuration: { rows: items(5000, 10) } };
  expect(shown(answer)).toMatchObject({ publicId: 'x', cut: expect.stringContaining('Lists of more than') });
});

test('an object of very many fields is still an answer', () => {
  const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, index]));
  expect(shown(fields)).toEqual({ cut: expect.stringContaining('too large') });
});

test('a text is not cut in the middle of a character', () => {
  const { text } = shown({ text: `a${'😀'.repeat(30_000)}` }) as { text: string };
  expect(text.isWellFormed()).toBe(true);
});
