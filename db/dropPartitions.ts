import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DROPPED_COMMENT } from './queries/turns/stepPartitions.ts';

/** Any number will do, as long as every process uses the same. */
const ADVISORY_LOCK = 7_261_548_204;
/** A lock that makes sends wait is given up after this time, and tried again after a pause. */
const SHORT_LOCK_MS = 100;
const ATTEMPTS = 20;
const PAUSE_MS = 500;
/** A lock that nobody waits for may take longer. */
const PATIENT_LOCK_MS = 30_000;

const LOCK_NOT_AVAILABLE = '55P03';
const FEATURE_NOT_SUPPORTED = '0A000';

/**
 * Drops partitions of turn_steps, each as a whole. Turns go on meanwhile: a partition is detached without a lock on the table
 * (`concurrently`), and where that is not possible, with one that is given up after 100 ms. What cannot be locked stays for the next
 * call, as does what a killed process left half done. Does nothing while another process does the same.
 * @param url for the login that owns the tables
 * @returns the names of those that are gone
 */
export async function dropStepPartitions(url: string, names: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'guildhall-upkeep' });
  client.on('error', () => {}); // the query in flight reports it
  await client.connect();
  const dropped: string[] = [];
  try {
    const text = 'select pg_try_advisory_lock($1) as locked';
    const { rows } = await client.query<{ locked: boolean }>(text, [ADVISORY_LOCK]);
    if (!rows[0]?.locked) return [];
    for (const name of names) {
      const table = `partitions.${client.escapeIdentifier(name)}`;
      if (!(await detach(client, table))) continue;
      if (await withShortLock(client, `drop table ${table}`)) dropped.push(name);
    }
    return dropped;
  } finally {
    await client.end(); // gives the advisory lock back, too
  }
}

type Attachment = 'none' | 'attached' | 'pending';

async function attachmentOf(client: pg.Client, table: string): Promise<Attachment> {
  const text = 'select inhdetachpending as pending from pg_inherits where inhrelid = $1::regclass';
  const { rows } = await client.query<{ pending: boolean }>(text, [table]);
  return rows[0] ? (rows[0].pending ? 'pending' : 'attached') : 'none';
}

/** @returns whether the partition is detached now */
async function detach(client: pg.Client, table: string): Promise<boolean> {
  const attachment = await attachmentOf(client, table);
  if (attachment === 'none') return true;
  const command = `alter table turn_steps detach partition ${table}`;
  await client.query(`set lock_timeout = ${PATIENT_LOCK_MS}`);
  try {
    if (attachment === 'pending') {
      await client.query(`${command} finalize`);
      return true;
    }
    await client.query(`comment on table ${table} is ${client.escapeLiteral(DROPPED_COMMENT)}`);
    await client.query(`${command} concurrently`);
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === LOCK_NOT_AVAILABLE) return false;
    if (code !== FEATURE_NOT_SUPPORTED) throw error;
    return withShortLock(client, command); // Citus, for one
  }
}

/** @returns whether the command got its lock */
async function withShortLock(client: pg.Client, command: string): Promise<boolean> {
  await client.query(`set lock_timeout = ${SHORT_LOCK_MS}`);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      await client.query(command);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }
  return false;
}
