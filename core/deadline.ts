/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. Work that is late continues unobserved:
 * its result and its error are ignored.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Settles as `work` does, or rejects with the error of `late` after `limitMs`. Work that is late continues unobserved. */
export async function withDeadline<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => expired.reject(late()), limitMs);
  try {
    return await Promise.race([work, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}
