import { systemClock } from '../../core/clock.ts';

/*
 * Loaded before the service (`node --import`): its clock runs faster than the machine's, from a common beginning on, so that processes
 * which are started one after the other agree. Timers and the database keep the machine's time.
 */

/** JSON of the beginning by both clocks in milliseconds since 1970, and how many times faster the service's runs. */
const { real, told, speed } = JSON.parse(process.env.TEST_FAST_CLOCK ?? '') as {
  real: number;
  told: number;
  speed: number;
};

systemClock.now = () => new Date(Math.floor(told + (Date.now() - real) * speed));
