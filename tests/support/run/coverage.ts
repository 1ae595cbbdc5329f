import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An answer that a test got from an operation. */
export type Hit = { operationId: string; status: number; code?: string };

/** The environment variable that names the folder of this run's hits; set by coverageReporter.ts. */
export const folderVariable = 'GUILDHALL_TEST_COVERAGE_DIR';

const seen = new Set<string>();

/**
 * Notes that a test exercised an operation with this outcome. `code` is the error's code for 4xx and 5xx. Costs one write
 * for each outcome that is new in this test file; does nothing outside a jest run.
 */
export function record(operationId: string, status: number, code?: string): void {
  const folder = process.env[folderVariable];
  const hit = JSON.stringify({ operationId, status, code } satisfies Hit);
  if (!folder || seen.has(hit)) return;
  seen.add(hit);
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${hit}\n`);
}

/** Every hit below a folder of recordings. */
export function readHits(folder: string): Hit[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Hit),
  );
}
