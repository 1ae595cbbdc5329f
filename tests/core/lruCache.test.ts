import { lruCache } from '../../core/lruCache.ts';

test('what was used longest ago is forgotten', () => {
  const cache = lruCache<string, number>(2);
  cache.set('one', 1);
  cache.set('two', 2);
  cache.get('one');
  cache.set('three', 3);
  expect([...cache.keys()].sort()).toEqual(['one', 'three']);
});

test('an entry ends with its time', () => {
  let now = 1;
  const cache = lruCache<string, number>(2, { ttl: 100, ttlResolution: 0, perf: { now: () => now } });
  cache.set('one', 1);
  now = 101;
  expect(cache.get('one')).toBe(1);
  now = 102;
  expect(cache.get('one')).toBeUndefined();
});

test('a cache for many entries takes no room for them before they come', () => {
  const before = process.memoryUsage();
  const caches = Array.from({ length: 20 }, () => lruCache<string, number>(1_000_000));
  const after = process.memoryUsage();
  expect(caches).toHaveLength(20);
  // With room for all, each would take 28 MB.
  expect(after.heapTotal + after.arrayBuffers - before.heapTotal - before.arrayBuffers).toBeLessThan(20_000_000);
});
