/* What a model reads in place of the result of a call that was not made, or whose result is not there. */

/** Calls in one step. The model is told that the others were not made. */
export const MAX_CALLS = 32;

export const REJECTED = 'A person rejected this call. Do not make it again unless you are asked to.';
export const WITHDRAWN = 'This call was not approved: the person wrote the last message instead. Act on that message.';
export const UNKNOWN =
  'The call was approved and begun, and then the service stopped. Whether it was made is not known.';
export const BEGUN_AND_UNKNOWN =
  'The call was begun, and then the service stopped. Whether it was made is not known. Do not make it again unless you can find out that it was not made.';
export const GONE = 'The call was approved, but the tool is no longer available.';
export const TOO_MANY = `The call was not made: at most ${MAX_CALLS} calls are made at once. Ask for it in the next step.`;

/** Of a call that an operator decides: the model words it for the user, in the language of the conversation. */
export const WAITS_FOR_OPERATOR = [
  'This call is not made yet: a person of the team decides about it, and the user cannot.',
  'Now tell the user so, in one or two short sentences and in the language of the conversation: what you want to do, that a person of the team decides about it, and that you will write here again then.',
  'Do not ask the user to approve it. Do not say that it is done, and promise no time.',
].join(' ');

/** What the user reads when no model words it. */
export const A_PERSON_DECIDES =
  'Before I go on, a person of the team has to decide about this. I will write here again then.';
