/** One thing that is wrong in a file, with the place where it is mended. */
export class FileFault extends Error {
  /** Path below the folder of guildhall.yaml, with `/`. */
  readonly file: string;
  /** Line from 1; absent when the whole file is meant. */
  readonly line: number | undefined;
  /** What is wrong, without the place. */
  readonly problem: string;

  constructor(file: string, line: number | undefined, problem: string) {
    super(`${file}${line === undefined ? '' : `:${line}`}: ${problem}`);
    this.name = 'FileFault';
    this.file = file;
    this.line = line;
    this.problem = problem;
  }
}

/** Everything that is wrong in the files, found before anything was changed. */
export class FileFaults extends Error {
  readonly faults: readonly FileFault[];

  constructor(faults: readonly FileFault[]) {
    super(faults.map((fault) => fault.message).join('\n'));
    this.name = 'FileFaults';
    this.faults = faults;
  }
}

/**
 * A state in which the command does not go on: local edits that `pull` would overwrite, a workspace that changed since the plan, a lock file
 * that cannot be read. Nothing was changed.
 */
export class StateConflict extends Error {
  /** Stable name of the case, such as `local_edits`. */
  readonly code: string;
  /** What the person can do. */
  readonly hint: string;
  /** The things that are in conflict, one a line. */
  readonly items: readonly string[];

  constructor(code: string, message: string, hint: string, items: readonly string[] = []) {
    super(message);
    this.name = 'StateConflict';
    this.code = code;
    this.hint = hint;
    this.items = items;
  }
}
