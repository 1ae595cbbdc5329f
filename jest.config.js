import { checkRunner } from './jest/checkRunner.mjs';

checkRunner();

/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/tests/**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Packages that are built from this one. Jest would look for modules by their names.
  modulePathIgnorePatterns: ['<rootDir>/clients/[^/]+/(dist/|package\\.json$)'],
  transform: { '^.+\\.ts$': '<rootDir>/jest/strip.mjs' },
  // On two cores jest would run in band, where the memory limit does nothing and each file that loads the app leaks 13 MB.
  maxWorkers: 2,
  // A new worker loads jest and its caches again, so it takes over rarely.
  workerIdleMemoryLimit: '800MB',
  // A worker with its memory full takes most of a second to go on a busy machine; half a second would blame it for a leak.
  workerGracefulExitTimeout: 5_000,
  // Each file starts a service over a database of its own: seconds on a busy machine.
  testTimeout: 30_000,
  testSequencer: '<rootDir>/jest/longestFirst.mjs',
  globalSetup: '<rootDir>/tests/support/run/globalSetup.ts',
  globalTeardown: '<rootDir>/tests/support/run/globalTeardown.ts',
  reporters: ['default', '<rootDir>/tests/support/run/coverageReporter.ts'],
  coverageProvider: 'v8',
};
