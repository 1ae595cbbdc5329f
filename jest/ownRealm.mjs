import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

// As `npm start` does: a worker that takes the place of one whose memory was full loads a thousand modules in half the time.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/guildhall', import.meta.url)));

/**
 * Jest's own runner for a test file (jest-circus), with one difference: the file and all that it imports are loaded by Node itself, in
 * the realm of the worker. Jest would load every module anew for each of hundreds of files, in a context of its own, and run all code
 * cold: that took three times the processor time. So the files of a worker share their modules, and a test must not leave anything
 * behind in them. Node strips the types, as in production; modules cannot be replaced by mocks.
 */
export default async function runTestFile(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  forgetEarlierFile();
  // jest-circus keeps the state of a run in its module, and jest loads it in a context of the test file. Here it is loaded anew instead.
  runtime.requireInternalModule = (path) => {
    delete require.cache[path];
    return require(path);
  };
  runtime.unstable_importModule = (path) => {
    globalThis.jest = runtime.jestGlobals.jestObjectFor(path);
    return import(pathToFileURL(path).href);
  };
  return circus(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
}

const require = createRequire(import.meta.url);
const { default: circus } = require('jest-circus/runner');

/** What jest-circus and `jest.setTimeout` keep in the realm (jest-circus, src/types.ts). */
const KEPT = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL', 'RETRY_TIMES', 'RETRY_IMMEDIATELY', 'WAIT_BEFORE_RETRY'];

function forgetEarlierFile() {
  for (const name of KEPT) delete globalThis[Symbol.for(name)];
}

// The package of this name throws outside of jest's own loader.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: new URL('./globals.mjs', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
