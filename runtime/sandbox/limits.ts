/** What code in the sandbox may take. */
export const SANDBOX_LIMITS = {
  /** Bytes of the code as UTF-8. */
  codeBytes: 100_000,
  timeMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 1024 * 1024,
  /** Characters of what is logged, and as many again of the result. */
  outputChars: 16_000,
} as const;

/** What came of running code. */
export interface SandboxResult {
  /** What was logged, a text for each call. */
  logs: string[];
  /** The result as text; undefined when it failed. */
  result: string | undefined;
  /** Why it failed, for whoever wrote the code. */
  error: string | undefined;
  /** The thread must not be used again: the code reached a limit, or used much of what it has. */
  spent: boolean;
}
