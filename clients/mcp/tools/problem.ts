/** One thing that is wrong with the arguments of a call. */
export interface Problem {
  /** Where: `body.users[0].email`. Empty for the arguments as a whole. */
  field: string;
  message: string;
}

/** The arguments of a call are wrong: nothing was sent. */
export class WrongArguments extends Error {
  override readonly name = 'WrongArguments';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('The arguments are wrong. Nothing was sent.');
    this.problems = problems;
  }
}

/** A JSON Pointer as people write the place: `/users/0/email` is `.users[0].email`. */
export function placeOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}
