import { sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Folders and files that wait for processes to start, stop and time out, or for pages: tens of seconds each. */
const LONG = [
  'tests/faults/',
  'tests/browser/',
  'tests/clients/acceptance/',
  'tests/clients/sdk/package',
  'tests/db/embedded',
  'tests/http/messages/deadTurns',
  'tests/http/skills/uploadSkill',
  'tests/integrations/toolkits/',
  'tests/jobs/queue',
  'tests/runtime/knowledge/extract',
  'tests/runtime/mcp/conformance',
  'tests/runtime/sandbox/',
  'tests/runtime/tools/configuration/fitInputs',
];
/** The part of the other files among which they are spread. */
const SPREAD = 0.8;

/**
 * Spreads the files that wait among those that compute, so that a processor has work while a worker waits, and begins the last of them long
 * before the end, so that no worker is left alone with one. Jest's own order is kept: by the time of the run before, or by size.
 */
export default class Order extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => LONG.some((part) => path.includes(`${sep}${part.replaceAll('/', sep)}`));
    const sorted = super.sort(tests);
    const [long, others] = [sorted.filter(isLong), sorted.filter((test) => !isLong(test))];
    if (long.length === 0) return others;
    const between = Math.ceil((others.length * SPREAD) / long.length);
    return [
      ...long.flatMap((test, place) => [test, ...others.slice(place * between, (place + 1) * between)]),
      ...others.slice(long.length * between),
    ];
  }
}
