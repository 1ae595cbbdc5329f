import type { ExitCode } from '../failure.ts';

/** One thing that was looked at. `wrong`: it keeps something from working; `note`: it is worth a look. */
export interface Check {
  about: string;
  state: 'ok' | 'note' | 'wrong';
  /** A sentence. */
  message: string;
  /** What to do, when there is something. */
  fix: string | null;
  /** The command's, when this is the first thing that is wrong. */
  exitCode?: ExitCode;
}
