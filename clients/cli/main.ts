#!/usr/bin/env node
import { homedir } from 'node:os';

/** The oldest Node that the bundle was tried on. */
const OLDEST_NODE = 20;

async function main(): Promise<number> {
  const { run } = await import('./run.ts');
  return await run(process.argv.slice(2), {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: workingFolder(),
    platform: process.platform,
    homeFolder: homeFolder(),
    onInterrupt(listener) {
      process.on('SIGINT', listener);
      return () => process.off('SIGINT', listener);
    },
  });
}

/** Node throws where the folder was removed meanwhile. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

/** Node throws where the user is in no list and HOME is not set. */
function homeFolder(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  console.error(`guildhall needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}.`);
  process.exitCode = 1;
} else {
  // What was printed is written by now. Sockets that a server keeps open would hold the process otherwise.
  process.exit(await main());
}
