import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from '../../../spec/rules/types.ts';
import { folderVariable, readHits } from './coverage.ts';
import { type BurnDown, judge } from './coverageGate.ts';

/** The part of jest's global configuration that is looked at here. */
export type RunConfig = {
  rootDir: string;
  testPathPatterns?: { patterns: string[] };
  testNamePattern?: string;
  onlyChanged?: boolean;
  findRelatedTests?: boolean;
  runTestsByPath?: boolean;
  shard?: unknown;
};

type RunResult = { numFailedTests: number; numRuntimeErrorTestSuites: number };

/**
 * Fails a full test run in which a documented outcome of an operation was neither exercised nor listed in
 * tests/spec/burn-down.json, or in which that list is stale. Silent when only some tests were asked for.
 */
export default class CoverageReporter {
  readonly #config: RunConfig;
  #folder = '';
  #error: Error | undefined;

  constructor(config: RunConfig) {
    this.#config = config;
  }

  /** Runs before the workers start, so that they inherit the variable. */
  onRunStart(): void {
    this.#folder = mkdtempSync(join(tmpdir(), 'guildhall-coverage-'));
    process.env[folderVariable] = this.#folder;
  }

  onRunComplete(_contexts: unknown, results: RunResult): void {
    const hits = readHits(this.#folder);
    rmSync(this.#folder, { recursive: true });
    if (!isFullRun(this.#config)) return;
    // After a failed test the list of what is missing would only repeat the failure.
    if (results.numFailedTests + results.numRuntimeErrorTestSuites > 0) return;
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const { rootDir } = this.#config;
    const document: Document = read(join(rootDir, 'generated/openapi.json'));
    const burnDown: BurnDown = read(join(rootDir, 'tests/spec/burn-down.json'));
    const verdict = judge(document, burnDown, hits);
    const lines = [
      ...verdict.missing.map((each) => `no test provokes ${each}`),
      ...verdict.stale.map((each) => `stale in tests/spec/burn-down.json: ${each}`),
      ...verdict.undocumented.map((each) => `answered but not in the document: ${each}`),
    ];
    if (lines.length > 0) this.#error = new Error(`The document and the tests differ:\n  ${lines.join('\n  ')}`);
    if (this.#error) console.error(`\n${this.#error.message}\n`);
  }

  getLastError(): Error | undefined {
    return this.#error;
  }
}

function isFullRun(config: RunConfig): boolean {
  const { onlyChanged, findRelatedTests, runTestsByPath, testNamePattern, testPathPatterns, shard } = config;
  const filtered = onlyChanged || findRelatedTests || runTestsByPath || testNamePattern || shard;
  return !filtered && (testPathPatterns?.patterns ?? []).length === 0;
}
