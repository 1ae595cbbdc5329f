import { addMonths, nextOccurrence } from '../../../domain/clients/period.ts';

const at = (text: string) => new Date(text);

describe('addMonths', () => {
  test.each([
    ['the last day of a shorter month', '2026-01-31T10:00:00Z', 1, 'UTC', '2026-02-28T10:00:00Z'],
    ['each month is counted from the anchor', '2026-01-31T10:00:00Z', 2, 'UTC', '2026-03-31T10:00:00Z'],
    ['a leap year', '2028-01-31T10:00:00Z', 1, 'UTC', '2028-02-29T10:00:00Z'],
    ['a year after a leap day', '2028-02-29T10:00:00Z', 12, 'UTC', '2029-02-28T10:00:00Z'],
    ['four years after a leap day', '2028-02-29T10:00:00Z', 48, 'UTC', '2032-02-29T10:00:00Z'],
    ['1900 and 2100 are no leap years', '2100-01-31T00:00:00Z', 1, 'UTC', '2100-02-28T00:00:00Z'],
    ['over the end of a year', '2026-12-15T23:59:59.999Z', 1, 'UTC', '2027-01-15T23:59:59.999Z'],
    ['the same time of day by clocks that change', '2026-03-15T09:00:00Z', 1, 'Europe/Berlin', '2026-04-15T08:00:00Z'],
    ['a time of day that clocks skip', '2026-02-28T01:30:00Z', 1, 'Europe/Berlin', '2026-03-28T01:30:00Z'],
    ['… on the day itself', '2026-01-29T01:30:00Z', 2, 'Europe/Berlin', '2026-03-29T01:30:00Z'],
    [
      'a time of day that clocks show twice is the first one',
      '2026-09-25T00:30:00Z',
      1,
      'Europe/Berlin',
      '2026-10-25T00:30:00Z',
    ],
    [
      'the day is that of the zone: 31 January in Auckland',
      '2026-01-30T12:00:00Z',
      1,
      'Pacific/Auckland',
      '2026-02-27T12:00:00Z',
    ],
    ['a name that is no zone', '2026-01-31T10:00:00Z', 1, 'Nowhere/None', '2026-02-28T10:00:00Z'],
  ])('%s', (_what, anchor, months, zone, expected) => {
    expect(addMonths(at(anchor), months, zone).toISOString()).toBe(at(expected).toISOString());
  });
});

describe('nextOccurrence', () => {
  test('counts from the anchor, whatever the month before it was cut to', () => {
    const anchor = at('2026-01-31T10:00:00Z');
    const found = [
      '2026-01-30T10:00:00Z',
      '2026-01-31T10:00:00Z',
      '2026-02-28T09:59:59Z',
      '2026-02-28T10:00:00Z',
      '2026-03-30T10:00:00Z',
    ].map((after) => nextOccurrence(anchor, 1, at(after), 'UTC').toISOString().slice(0, 10));
    expect(found).toEqual(['2026-01-31', '2026-02-28', '2026-02-28', '2026-03-31', '2026-03-31']);
  });

  test.each(['UTC', 'America/Sao_Paulo', 'Pacific/Apia'])('leaves none out, and finds none twice: %s', (zone) => {
    const anchor = at('2027-12-31T11:00:00Z');
    for (const every of [1, 5, 12]) {
      for (let round = 1, after = anchor; round <= 60; round += 1) {
        after = nextOccurrence(anchor, every, after, zone);
        expect(after).toEqual(addMonths(anchor, round * every, zone));
      }
    }
  });
});
