import { sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Folders and files that wait for processes to start, stop and time out: tens of seconds each. */
const LONG = ['tests/faults/', 'tests/runtime/knowledge/extract', 'tests/db/embedded', 'tests/integrations/toolkits/'];

/** Begins with the files that take longest, so that no worker is left alone with one at the end. Jest's own order follows. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => LONG.some((part) => path.includes(`${sep}${part.replaceAll('/', sep)}`));
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
