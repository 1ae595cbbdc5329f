import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from './postmaster.ts';

/** A shutdown that takes longer is made an immediate one. */
const SHUTDOWN_MS = 30_000;
/** Who has run for this long has been started well: what ends it later is another misfortune. */
const STEADY_MS = 60_000;
/** Starts in a row without a steady run between them. */
const MAX_STARTS = 6;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** A PostgreSQL that is started again when it ends by itself. */
export interface KeptServer {
  /** Fast shutdown; settles when PostgreSQL has ended and the data folder is free. */
  stop(): Promise<void>;
  /** Calls back once, when PostgreSQL has ended by itself and cannot be kept running. */
  onExit(listener: (reason: string) => void): void;
}

/** What `keepRunning` needs. */
export interface KeepOptions {
  /** Starts it again, at the same address. Rejects when it does not start. */
  restart(): Promise<Server>;
  /** Frees the data folder. */
  release(): void;
  log(line: string): void;
}

/** Starts a server again whenever it ends by itself, until it has ended too often within a short time. */
export function keepRunning(first: Server, { restart, release, log }: KeepOptions): KeptServer {
  const listeners = new Set<(reason: string) => void>();
  const stopping = new AbortController();
  let server: Server | undefined = first;

  async function keep(): Promise<void> {
    let starts = 0;
    for (let startedAt = performance.now(); ; startedAt = performance.now()) {
      let reason = await (server?.exited ?? 'PostgreSQL did not start');
      if (performance.now() - startedAt > STEADY_MS) starts = 0;
      for (server = undefined; !server && !stopping.signal.aborted; ) {
        if (starts === MAX_STARTS) return giveUp(reason);
        log(`FATAL:  ${reason}. It is started again.`);
        // The first time there is no need to wait.
        if (starts > 0)
          await sleep(Math.min(FIRST_PAUSE_MS * 2 ** starts, MAX_PAUSE_MS), undefined, {
            signal: stopping.signal,
          }).catch(() => {});
        starts += 1;
        if (stopping.signal.aborted) break;
        server = await restart().catch((error: Error) => {
          reason = error.message;
          return undefined;
        });
      }
      if (stopping.signal.aborted) {
        await end(server);
        return release();
      }
    }
  }

  function giveUp(reason: string): void {
    release();
    for (const listener of listeners) listener(reason);
  }

  const kept = keep();
  return {
    onExit: (listener) => void listeners.add(listener),
    async stop() {
      stopping.abort();
      await end(server);
      await kept;
    },
  };
}

async function end(server: Server | undefined): Promise<void> {
  if (!server) return;
  server.child.kill('SIGINT'); // without effect on a child that has ended
  await Promise.race([server.exited, sleep(SHUTDOWN_MS, undefined, { ref: false })]);
  server.child.kill('SIGQUIT');
  await server.exited;
}
