/** Limits of one run of code in the sandbox. */
export const SANDBOX_LIMITS = {
  /** Bytes of the code as UTF-8. */
  codeBytes: 100_000,
  timeMs: 5_000,
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 1024 * 1024,
  /** Characters of the log; the result may have as many again. */
  outputChars: 16_000,
} as const;

/** The result of one run. */
export interface SandboxResult {
  /** The log, one text for each call. */
  logs: string[];
  /** The result as text; undefined when it failed. */
  result: string | undefined;
  /** Why it failed, for the author of the code. */
  error: string | undefined;
  /** The thread must not be used again: the code reached a limit, or its memory has grown. */
  spent: boolean;
}
