/** What keeps a login from being read, used or saved. `exitCode`: 2 usage, 4 no credential that can be used, 5 conflict of configuration. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
  readonly code: string;
  readonly exitCode: 2 | 4 | 5;
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(code: string, exitCode: 2 | 4 | 5, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
