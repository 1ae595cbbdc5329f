import Sequencer from '@jest/test-sequencer';
import { isOneOf, waits } from './waiting.mjs';

/** Folders and files that wait for processes or for pages between their computing: tens of seconds each. */
const LONG = [
  'tests/faults/',
  'tests/browser/',
  'tests/clients/acceptance/',
  'tests/clients/sdk/package',
  'tests/db/embedded',
  'tests/http/skills/uploadSkill',
  'tests/integrations/toolkits/',
  'tests/runtime/knowledge/extract',
  'tests/runtime/mcp/conformance',
  'tests/runtime/sandbox/',
  'tests/runtime/tools/configuration/fitInputs',
];
/** The part of the other files among which they are spread. */
const SPREAD = 0.8;

/**
 * Spreads the long files among those that compute, so that a processor has work while a worker waits, and begins the last of them long
 * before the end, so that no worker is left alone with one. Jest's own order is kept: by the time of the run before, or by size. Files that
 * mostly wait have a worker of their own (lanes.mjs).
 */
export default class Order extends Sequencer {
  sort(tests) {
    const isLong = isOneOf(LONG);
    const sorted = super.sort(tests);
    const [waiting, rest] = [sorted.filter(waits), sorted.filter((test) => !waits(test))];
    const [long, others] = [rest.filter(isLong), rest.filter((test) => !isLong(test))];
    if (long.length === 0) return [...waiting, ...others];
    const between = Math.ceil((others.length * SPREAD) / long.length);
    return [
      ...waiting,
      ...long.flatMap((test, place) => [test, ...others.slice(place * between, (place + 1) * between)]),
      ...others.slice(long.length * between),
    ];
  }
}
