import { execFile } from 'node:child_process';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../support/poll.ts';
import { demoOf, expectPromptExit, freshFolder, startService } from './service.ts';

/** The variable with the folder of this run in which the first data folder is kept. Set by tests/support/run/globalSetup.ts. */
export const TEST_DEMO = 'GUILDHALL_TEST_DEMO';

/** A data folder in which a service was started before, and what its first start made. */
type DemoFolder = { dataDir: string; agentId: string; key: string };

/**
 * A data folder of its own for a test, with the workspace `demo`, and nothing running on it. The first test of the run that asks makes one by a
 * start of the service, and all get copies: a first start makes a PostgreSQL and migrates it, which takes longer than all the rest of it.
 */
export async function demoFolder(): Promise<DemoFolder> {
  const shared = process.env[TEST_DEMO] ?? '';
  const [first, made] = [join(shared, 'data'), join(shared, 'made.json')];
  // Only one worker can make the folder; others wait for its last file.
  const isMaker = await mkdir(shared).then(
    () => true,
    () => false,
  );
  if (isMaker) {
    const service = await startService({ GUILDHALL_DATA_DIR: first });
    service.child.kill('SIGTERM');
    await expectPromptExit(service);
    await writeFile(made, JSON.stringify(demoOf(service)));
  }
  await until(() =>
    access(made).then(
      () => true,
      () => false,
    ),
  );
  const dataDir = await freshFolder();
  // PostgreSQL's files belong to a user of its own, which fs.cp would not keep.
  await promisify(execFile)('cp', ['-a', first, dataDir]);
  return { dataDir, ...JSON.parse(await readFile(made, 'utf8')) };
}
