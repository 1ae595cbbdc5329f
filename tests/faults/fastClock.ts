import { readFileSync } from 'node:fs';
import { systemClock } from '../../core/clock.ts';

/*
 * Loaded before the service (`node --import`): its clock tells what a test has written into a file last, so that processes which are started
 * one after the other agree, and the time goes on when the test says so. Timers and the database keep the machine's time.
 */

const file = process.env.TEST_CLOCK_FILE ?? '';
/** So long a time is told again before the file is read again. */
const KEPT_MS = 10;

let told = 0;
let readAt = Number.NEGATIVE_INFINITY;

systemClock.now = () => {
  if (performance.now() - readAt > KEPT_MS) {
    told = Number(readFileSync(file, 'utf8'));
    readAt = performance.now();
  }
  return new Date(told);
};
