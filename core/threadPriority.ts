import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { workerData } from 'node:worker_threads';

/**
 * Called by the script of a thread (thread.ts). When the thread does background work, the kernel gives it the processor time that requests
 * leave. Works on Linux, where threads have priorities of their own; elsewhere it does nothing.
 */
export function adoptThreadPriority(): void {
  if (workerData?.isBackground !== true) return;
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // There is no /proc, or the priority may not be changed.
  }
}
