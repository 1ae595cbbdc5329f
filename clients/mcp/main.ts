#!/usr/bin/env node
import { homedir } from 'node:os';

/** The oldest Node that the bundle was tried on. */
const OLDEST_NODE = 20;

async function main(): Promise<void> {
  const { start } = await import('./stdio.ts');
  const code = start(process.argv.slice(2), {
    env: process.env,
    cwd: orElse(() => process.cwd(), '/'),
    // Node throws where the user is in no list and HOME is not set.
    homeFolder: orElse(() => homedir() || undefined, undefined),
  });
  if (code !== undefined) process.exitCode = code;
}

function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

// stdout carries the protocol and nothing else.
console.log = console.error;
console.info = console.error;
console.debug = console.error;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  console.error(`guildhall-mcp needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}.`);
  process.exitCode = 1;
} else {
  await main();
}
