import { worthOf } from '../../../runtime/knowledge/worth.ts';

test('passages of dots are judged in a time that grows with their length only', () => {
  const before = process.threadCpuUsage();
  for (const leader of ['.', '. ', ' .', '.\t']) {
    for (let n = 0; n < 50; n += 1) worthOf(leader.repeat(4_000 / leader.length), new Set());
  }
  // Some milliseconds; it was half a minute.
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(4_000);
});

test('a table of contents whose leaders are very long is still one', () => {
  const lines = Array.from({ length: 8 }, (_, n) => `Chapter ${n} ${'.'.repeat(120)} ${n * 7 + 1}`);
  expect(worthOf(lines.join('\n'), new Set())).toBeLessThan(1);
  expect(worthOf(lines.join(' '), new Set())).toBeLessThan(1);
  expect(worthOf('The first sentence. The second one... And the third.', new Set())).toBe(1);
});
