import { runAdmin } from '../../../scripts/admin/run.ts';

/** What a command line of an operator came to. */
export interface AdminResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** The database of a command line, or the whole environment that names it. */
type Where = { url: string } | { env: Record<string, string> };

/** Runs a command line on the database of a test. */
export async function admin(where: Where, ...args: string[]): Promise<AdminResult> {
  const result: AdminResult = { code: -1, stdout: '', stderr: '' };
  result.code = await runAdmin(args, 'env' in where ? where.env : { DATABASE_URL: where.url }, {
    out: (line) => {
      result.stdout += `${line}\n`;
    },
    err: (line) => {
      result.stderr += `${line}\n`;
    },
  });
  return result;
}

/** Runs a command line with `--json` that must succeed. Returns its output, parsed. */
export async function adminJson(database: Where, ...args: string[]) {
  const { code, stdout, stderr } = await admin(database, ...args, '--json');
  expect({ code, stdout: code === 0 ? '' : stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  return JSON.parse(stdout);
}
