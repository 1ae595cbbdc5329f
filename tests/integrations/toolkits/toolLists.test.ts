import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolkitTool } from '../../../integrations/toolkits/toolkits.ts';
import { type ToolListOptions, ToolLists } from '../../../integrations/toolkits/toolLists.ts';
import { until } from '../../support/poll.ts';

const MINUTE = 60_000;
const tool = (name: string): ToolkitTool => ({ name, description: '', inputSchema: { type: 'object' } });

let now: number;
let asked: string[];
let answer: () => Promise<ToolkitTool[]>;
beforeEach(() => {
  now = 0;
  asked = [];
  answer = async () => [tool('A')];
});

function lists(options: Partial<ToolListOptions> = {}): ToolLists {
  const read = (toolkit: string) => {
    asked.push(toolkit);
    return answer();
  };
  return new ToolLists({ read, now: () => now, patienceMs: 50, ...options });
}

const namesOf = async (known: ToolLists, toolkit = 'slack') => (await known.of(toolkit)).map(({ name }) => name);
const down = () => Promise.reject(new Error('down'));

test('concurrent callers share one request, and the list is cached', async () => {
  const known = lists();
  await Promise.all([known.of('slack'), known.of('slack'), known.of('gmail')]);
  now += 4 * MINUTE;
  expect(await namesOf(known)).toEqual(['A']);
  expect(asked).toEqual(['slack', 'gmail']);
});

test('an old list is returned at once and refreshed in the background', async () => {
  const known = lists();
  await known.of('slack');
  now += 5 * MINUTE;
  const read = Promise.withResolvers<ToolkitTool[]>();
  answer = () => read.promise;
  expect(await namesOf(known)).toEqual(['A']);
  expect(await namesOf(known)).toEqual(['A']);
  read.resolve([tool('B')]);
  await until(async () => (await namesOf(known))[0] === 'B');
  expect(asked).toHaveLength(2);
});

test('a list that is not cached is waited for once in 15 seconds; a late response is used', async () => {
  const known = lists();
  const read = Promise.withResolvers<ToolkitTool[]>();
  answer = () => read.promise;
  const first = await known.of('slack').catch((error: unknown) => error);
  expect(first).toMatchObject({ code: 'TOOLKIT_REGISTRY_UNAVAILABLE' });
  expect(String((first as Error).cause)).toContain('no tools of slack within 50 ms');
  now += 14_999;
  await expect(known.of('slack')).rejects.toBe(first);
  expect(asked).toEqual(['slack']);
  read.resolve([tool('A')]);
  await until(() => known.of('slack').then(Boolean, () => false));
  expect(asked).toEqual(['slack']);
});

test('a failure is remembered for 15 seconds, for its toolkit alone', async () => {
  const known = lists();
  answer = down;
  const first = await known.of('slack').catch((error: unknown) => error);
  answer = async () => [tool('A')];
  await expect(known.of('slack')).rejects.toBe(first);
  expect(await namesOf(known, 'gmail')).toEqual(['A']);
  now += 15_000;
  expect(await namesOf(known)).toEqual(['A']);
  expect(asked).toEqual(['slack', 'gmail', 'slack']);
});

test('cached lists are used for a day when the registry is down', async () => {
  const known = lists();
  await known.of('slack');
  answer = down;
  now += 5 * MINUTE;
  expect(await namesOf(known)).toEqual(['A']);
  await sleep(0);
  expect(await namesOf(known)).toEqual(['A']);
  expect(asked).toHaveLength(2);
  now += 24 * 60 * MINUTE;
  await expect(known.of('slack')).rejects.toThrow('down');
});
