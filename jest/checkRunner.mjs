import { isMainThread } from 'node:worker_threads';

const FLAG = '--experimental-vm-modules';
const OLDEST = 24;

/**
 * Ends the run with one sentence when jest was started in a way in which no test file can load. `npx jest` and `npm test` take the
 * project's own Node and the flag from .npmrc; node_modules/.bin/jest takes neither.
 */
export function checkRunner() {
  const flags = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')];
  const isOld = Number(process.versions.node.split('.')[0]) < OLDEST;
  if (!isMainThread || (flags.includes(FLAG) && !isOld)) return;
  throw new Error(
    `Start jest with "npx jest", here and in the settings of an editor: it needs Node ${OLDEST} or newer and ${FLAG}.`,
  );
}
