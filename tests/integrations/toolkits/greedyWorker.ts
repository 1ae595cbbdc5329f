import { parentPort } from 'node:worker_threads';

/** Takes memory until there is no more. */
parentPort?.on('message', () => {
  const kept: number[][] = [];
  for (;;) kept.push(new Array(100_000).fill(kept.length));
});
parentPort?.postMessage('ready');
