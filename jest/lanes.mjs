import TestRunner, { EmittingTestRunner } from 'jest-runner';
import { waits } from './waiting.mjs';

/**
 * Runs the files that mostly wait in a worker of their own, beside the workers that `maxWorkers` gives to all others. So what waits does not
 * keep a processor idle, and no more than `maxWorkers` workers compute.
 */
export default class Lanes extends EmittingTestRunner {
  #computing;
  #waiting;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#computing = new TestRunner(globalConfig, context);
    this.#waiting = new TestRunner({ ...globalConfig, maxWorkers: 1 }, context);
  }

  async runTests(tests, watcher, options) {
    if (options.serial) return this.#computing.runTests(tests, watcher, options);
    const [waiting, computing] = [tests.filter(waits), tests.filter((test) => !waits(test))];
    // Without any file, a runner would start its workers all the same.
    await Promise.all([
      computing.length > 0 && this.#computing.runTests(computing, watcher, options),
      waiting.length > 0 && this.#waiting.runTests(waiting, watcher, options),
    ]);
  }

  on(event, listener) {
    const stops = [this.#computing, this.#waiting].map((runner) => runner.on(event, listener));
    return () => {
      for (const stop of stops) stop();
    };
  }
}
