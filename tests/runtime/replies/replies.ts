/** A generator of pseudo-random numbers from 0 up to but not including 1, the same for each seed: mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

const below = (random: Random, limit: number) => Math.floor(random() * limit);
const pick = <T>(random: Random, from: readonly T[]): T => from[below(random, from.length)] as T;
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

const SENTENCES = [
  'Cats sleep.',
  'Have you seen `a. B? c` anywhere in the house?',
  'Look at [this. And that](https://a.example/x?y=1) before you decide.',
  '猫は一日中眠ります。',
  'Voilà, c’est tout !',
  'Dr. Who came by at 3.15 p.m. and left again.',
  '**Never. Ever.** do that 🙂!',
];

const paragraph = (random: Random) =>
  times(1 + below(random, random() < 0.1 ? 90 : 6), () => pick(random, SENTENCES)).join(pick(random, [' ', '\n']));
const gap = (random: Random) => pick(random, ['\n', '\n\n', '\n \n\n']);

/** Blocks that must not be cut. */
const WHOLE: ((random: Random) => string)[] = [
  (random) => `\`\`\`js\n${times(1 + below(random, 8), (n) => `line(${n}); // End. Next`).join(gap(random))}\n\`\`\``,
  (random) => `~~~\n# no heading\n\n${'- no item\n'.repeat(1 + below(random, 3))}~~~`,
  (random) => times(1 + below(random, 8), (n) => `- item ${n}. More`).join(pick(random, ['\n', '\n\n'])),
  (random) => times(1 + below(random, 8), (n) => `${n + 1}. item\n\n   ${pick(random, SENTENCES)}`).join('\n\n'),
  (random) => `| a | b |\n|---|:-:|\n${times(1 + below(random, 40), (n) => `| ${n}. X | y. Z |`).join('\n')}`,
  (random) =>
    times(1 + below(random, 5), () => `> ${pick(random, SENTENCES)}`).join(pick(random, ['\n', '\n>\n', '\n\n'])),
];

/** A random reply in Markdown, and those of its blocks that must not be cut. */
export function anyReply(random: Random): { text: string; blocks: string[] } {
  const blocks: string[] = [];
  const parts = times(1 + below(random, 9), () => {
    if (random() < 0.6) return paragraph(random);
    if (random() < 0.2) return pick(random, ['# Heading', 'Here it is:', '---']);
    const block = pick(random, WHOLE)(random);
    blocks.push(block);
    return block;
  });
  return { text: parts.join(pick(random, ['\n\n', '\n\n\n', '\n \n'])), blocks };
}

const SOUP = [
  '\n',
  '\n\n',
  '\n\n',
  ' ',
  '  ',
  '\t',
  '\r\n',
  '```',
  '`',
  '~~~',
  '- ',
  '1. ',
  '> ',
  '|',
  '---',
  '# ',
  '[',
  '](',
  ')',
  '**',
  'http://',
  '. ',
  '。',
  '🙂',
  'é',
  'word',
  'A sentence of some words. ',
];

/** A random text of Markdown marks. */
export function anySoup(random: Random): string {
  return times(below(random, 120), () => pick(random, SOUP).repeat(random() < 0.03 ? 60 : 1)).join('');
}
