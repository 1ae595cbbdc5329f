import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { judgeAudit } from './audit/judge.ts';

/**
 * `npm run audit`: fails on a known vulnerability of severity high or critical in the packages that the service runs with. A registry
 * that does not answer audits is no pass: the command says `SKIPPED` and why, and with `--required` it fails.
 */
const args = ['audit', '--omit=dev', '--json'];
execFile('npm', args, { cwd: join(import.meta.dirname, '..'), maxBuffer: 64 * 1_048_576 }, (_, stdout) => {
  const { outcome, lines } = judgeAudit(stdout);
  for (const line of lines) console.log(line);
  if (outcome === 'vulnerable' || (outcome === 'skipped' && process.argv.includes('--required'))) process.exitCode = 1;
});
