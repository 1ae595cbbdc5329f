import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { PATIENCE_MS } from '../poll.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of an installed Chromium; undefined where there is none. */
export function installedBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts an installed Chromium without a window. Whoever calls it closes it. */
export function startBrowser(executablePath: string): Promise<Browser> {
  // Chromium's own sandbox does not run as root, as tests in a container do. The pages are ours.
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking'],
    timeout: PATIENCE_MS,
  });
}
