import { checkRunner } from './jest/checkRunner.mjs';

checkRunner();

/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/tests/**/*.test.ts'],
  testEnvironment: '<rootDir>/jest/environment.mjs',
  runner: '<rootDir>/jest/lanes.mjs',
  testRunner: '<rootDir>/jest/ownRealm.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  // Packages that are built from this one. Jest would look for modules by their names.
  modulePathIgnorePatterns: ['<rootDir>/clients/[^/]+/(dist/|package\\.json$)'],
  transform: { '^.+\\.ts$': '<rootDir>/jest/strip.mjs' },
  // On two cores jest would run in band, where the memory limit does nothing and each file that loads the app leaks 13 MB. With three for
  // all files, what the service does at low priority waits: tests of that took three times as long, and the whole run no less. Files that
  // mostly wait have one more worker, one file at a time (jest/lanes.mjs).
  maxWorkers: 2,
  // A new worker loads jest and its caches again, so it takes over rarely.
  workerIdleMemoryLimit: '800MB',
  // A worker with its memory full takes most of a second to go on a busy machine; half a second would blame it for a leak.
  workerGracefulExitTimeout: 5_000,
  // Ends a test that hangs, and says nothing of speed: on a slow and busy machine what takes two seconds here takes a minute.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/jest/order.mjs',
  globalSetup: '<rootDir>/tests/support/run/globalSetup.ts',
  globalTeardown: '<rootDir>/tests/support/run/globalTeardown.ts',
  reporters: ['default', '<rootDir>/tests/support/run/coverageReporter.ts'],
  coverageProvider: 'v8',
};
