/** Numbers that look random and are the same in each run (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LONG = 'x'.repeat(70_000);
const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  1.5,
  '',
  ' ',
  '\u0000',
  '\ud800',
  'a\u0000b\udfffc',
  LONG,
  '😀'.repeat(300),
  [],
  {},
  [[[]]],
  [null],
  { toString: 'x' },
  { __proto__: { text: 'x' } },
  { constructor: { prototype: {} } },
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  '99999999999999999999',
  '1772445600',
  '-5',
  'US.1',
  '81896604192873@lid',
  '120363166555745933@newsletter',
  'text',
  'image',
  'system',
  'interactive',
  'edit',
  'order',
  'contacts',
  'unsupported',
  'failed',
  'READ',
  'ReceivedCallback',
  'http://[',
];

const STRANGE_NAMES = STRANGE.filter((each) => typeof each === 'string');

/** A copy with some values replaced, removed, repeated, nested or moved. */
function mutate(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const walk = (node: unknown, depth: number): unknown => {
    if (random() < 0.04) return pick(STRANGE);
    if (Array.isArray(node)) {
      const items = node.map((each) => walk(each, depth + 1));
      if (random() < 0.05) items.push(...items);
      if (random() < 0.03) return Object.fromEntries(items.entries());
      return random() < 0.03 ? items[0] : items;
    }
    if (typeof node !== 'object' || node === null) return random() < 0.02 ? [node] : node;
    const entries = Object.entries(node).flatMap(([key, inner]): [string, unknown][] => {
      const chance = random();
      if (chance < 0.03) return [];
      if (chance < 0.05) return [[pick(STRANGE_NAMES) ?? '', walk(inner, depth + 1)]];
      return [[key, walk(inner, depth + 1)]];
    });
    return Object.fromEntries(entries);
  };
  return walk(value, 0);
}

/** The bytes of a mutated webhook; some are cut or broken, too. */
export function* mutatedWebhooks(
  webhooks: Readonly<Record<string, unknown>>,
  { seed, count: mutations }: { seed: number; count: number },
): Generator<Buffer> {
  const random = randomFrom(seed);
  const all = Object.values(webhooks);
  for (let count = 0; count < mutations; count += 1) {
    const body = Buffer.from(JSON.stringify(mutate(all[count % all.length], random)) ?? 'undefined');
    const chance = random();
    if (chance < 0.05) yield body.subarray(0, Math.floor(random() * body.length));
    else if (chance < 0.1) {
      for (let byte = 0; byte < 3; byte += 1) body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
      yield body;
    } else yield body;
  }
}
