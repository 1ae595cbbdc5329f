/** Signals that come this close together are one: npm passes on the Ctrl-C that the terminal has sent to npm and to us. */
const TOGETHER_MS = 1_000;

/** What the operator has asked for with SIGTERM and SIGINT. Each is aborted when it is asked for, and each includes those above it. */
export interface StopSignals {
  /** Stop, and leave load balancers the time to see it. The first SIGTERM. */
  stop: AbortSignal;
  /** Take no new requests from now on. SIGINT, which a person sends, or a second signal. */
  closePort: AbortSignal;
  /** Give up what still runs. One signal more. */
  giveUp: AbortSignal;
}

/** Listens for SIGTERM and SIGINT, in place of Node's own response to them, which is to end at once. */
export function listenForStopSignals(): StopSignals {
  const steps = [new AbortController(), new AbortController(), new AbortController()] as const;
  let done = 0;
  let last = Number.NEGATIVE_INFINITY;

  function take(signal: NodeJS.Signals): void {
    const now = performance.now();
    const together = now - last < TOGETHER_MS;
    last = now;
    if (together) return;
    done = Math.max(done + 1, signal === 'SIGINT' ? 2 : 1);
    for (const step of steps.slice(0, done)) step.abort();
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, take);
  return { stop: steps[0].signal, closePort: steps[1].signal, giveUp: steps[2].signal };
}
