import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type pg from 'pg';
import { Session } from '../../../db/session.ts';
import { ACROSS_WORKSPACES } from './acrossWorkspaces.ts';

/** Environment variable with the folder of the statements that some test file of the run has checked. */
export const TEST_STATEMENTS = 'GUILDHALL_TEST_STATEMENTS';

const ROOT = join(import.meta.dirname, '../../..');
const OURS = /^(db|domain|handlers|integrations|jobs|runtime|scripts|server|tests)\//;
/** Files of db/ through which statements of all others pass. */
const PASSED = /^db\/(session|statement|transaction|compiled|connect)\.ts$/;
const PLANNABLE = /^\s*(select|insert|update|delete|with)\b/i;
const FRAMES = 80;

/** Where a statement comes from. */
interface Origin {
  file: string;
  /** The function that sent it, as the stack names it. */
  name: string;
}

const sent = new Map<string, Origin>();

/** The statements of the program itself are noted from now on; those that a test writes are not. */
const query = Session.prototype.query as (this: Session, text: string, values?: readonly unknown[]) => Promise<unknown>;
Session.prototype.query = function (this: Session, text: string, values?: readonly unknown[]) {
  if (!sent.has(text) && PLANNABLE.test(text)) {
    const origin = originOf();
    if (origin && !origin.file.startsWith('tests/')) sent.set(text, origin);
  }
  return query.call(this, text, values);
} as typeof Session.prototype.query;

function originOf(): Origin | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const lines = new Error('where').stack?.split('\n') ?? [];
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of lines) {
    const [, name = '', path = ''] = /at (?:async )?(?:(.+?) \()?(?:file:\/\/)?(\/[^:)]+):\d+/.exec(line) ?? [];
    const file = relative(ROOT, path);
    if (!OURS.test(file) || PASSED.test(file) || path === import.meta.filename) continue;
    return { file, name: name.split(/[ .]/).at(-1) ?? '' };
  }
  return undefined;
}

/** Who sent a noted statement whose text matches. */
export function originOfSent(text: RegExp): Origin | undefined {
  return [...sent].find(([each]) => text.test(each))?.[1];
}

interface PlanNode {
  'Relation Name'?: string;
  Plans?: PlanNode[];
  [field: string]: unknown;
}

/** A condition that fixes the workspace of a scan's rows. */
const FIXED =
  /\bworkspace_id = \(*(\$\d+|'[0-9a-f-]{36}'::uuid)|(\$\d+|'[0-9a-f-]{36}'::uuid)\)*(::uuid)? = \(?(\w+\.)?workspace_id\b/;
const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter'];

/** The parts of a condition that all hold: `((a = 1) AND (b = 2))` has two. */
function conjunctsOf(condition: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 1];
  for (let at = 0; at < condition.length; at += 1) {
    if (condition[at] === '(') depth += 1;
    else if (condition[at] === ')') depth -= 1;
    else if (depth === 1 && condition.startsWith(' AND ', at)) {
      parts.push(condition.slice(start, at));
      start = at + 5;
    }
  }
  return [...parts, condition.slice(start)];
}

/** The tables that a plan reads or changes without naming their workspace. */
export function unboundTables(plan: PlanNode, tenants: ReadonlySet<string>): string[] {
  const below = (plan.Plans ?? []).flatMap((child) => unboundTables(child, tenants));
  const table = plan['Relation Name']?.replace(/^turn_steps_.*/, 'turn_steps');
  const isScan = String(plan['Node Type']).endsWith('Scan');
  if (!table || !isScan || !tenants.has(table)) return below;
  const isBound = CONDITIONS.some((field) =>
    conjunctsOf(String(plan[field] ?? '')).some((part) => FIXED.test(part) && !part.includes(' OR ')),
  );
  return isBound ? below : [table, ...below];
}

/** How a statement that names too few workspaces is reported. */
export interface LintReport {
  origin: Origin;
  tables: string[];
  text: string;
}

/** Plans statements as a superuser, for whom row-level security adds no condition, and reports those that do not name their workspace. */
export async function lintStatements(
  client: pg.Client,
  statements: Iterable<readonly [string, Origin]>,
): Promise<LintReport[]> {
  const { rows } = await client.query<{ name: string }>(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'api_keys'`);
  const tenants = new Set(rows.map(({ name }) => name));
  const reports: LintReport[] = [];
  for (const [text, origin] of statements) {
    if (ACROSS_WORKSPACES[origin.name] !== undefined) continue;
    const planned = await client.query(`explain (generic_plan, format json) ${text}`).catch(() => undefined);
    const plan: PlanNode | undefined = planned?.rows[0]?.['QUERY PLAN'][0].Plan;
    if (!plan) continue; // its tables or types are of the test alone
    const tables = [...new Set(unboundTables(plan, tenants))];
    if (tables.length > 0) reports.push({ origin, tables, text: text.replace(/\s+/g, ' ').trim() });
  }
  return reports;
}

/** Lints what the program has sent in this test file and no other file of the run has checked. */
export async function lintSent(client: pg.Client): Promise<string[]> {
  const folder = process.env[TEST_STATEMENTS];
  const fresh = [...sent].filter(([text]) => {
    if (!folder) return true;
    const mark = join(folder, createHash('sha256').update(text).digest('hex'));
    if (existsSync(mark)) return false;
    mkdirSync(folder, { recursive: true });
    writeFileSync(mark, '');
    return true;
  });
  const reports = await lintStatements(client, fresh);
  return reports.map(
    ({ origin, tables, text }) =>
      `${origin.name} (${origin.file}) does not name the workspace of ${tables.join(', ')}: ${text}`,
  );
}
