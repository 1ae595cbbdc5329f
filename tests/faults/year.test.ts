import { liveYear } from './year/year.ts';

// `npm run simulate` lives through years of 50 clients of five hubs.
const seeds = (process.env.SEEDS ?? '7').split(',').map(Number);
const isLarge = process.env.SEEDS !== undefined;

test.each(seeds)(
  'after a year of purchases, changes, failed payments, refunds, messages and killed processes everything is as the rules say (seed %i)',
  async (seed) => {
    const size = isLarge ? { hubs: 5, clientsOfHub: 10, kills: 25 } : { hubs: 5, clientsOfHub: 2, kills: 2 };
    const count = await liveYear({ seed, ...size });
    if (isLarge) process.stderr.write(`seed ${seed}: ${JSON.stringify(count)}\n`);
    expect(count).toMatchObject({ killed: expect.any(Number) });
    expect(Math.min(count.charged, count.refused, count.killed, count.repeated)).toBeGreaterThan(0);
  },
  600_000,
);
