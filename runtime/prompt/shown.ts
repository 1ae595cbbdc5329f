/**
 * From where on a conversation is shown to a model: values of messages.seq. Providers charge little for a request that begins as the one
 * before it did, so each of them stays where it is for many turns, and then moves far.
 */
export interface ShownFrom {
  /** The oldest message; 0 = all. */
  from: number;
  /** Tokens of the window that `from` was chosen for. */
  window: number;
  /** The oldest message with its calls. */
  callsFrom: number;
  /** The oldest message with whole results, and with what stood beside it. */
  wholeFrom: number;
}

/** What the choice depends on, for each message of the conversation. */
export interface MessageExtent {
  seq: number;
  isOfUser: boolean;
  /** Characters of its whole calls and of what stood beside it. */
  extra: number;
}

/** Messages that keep their calls when the older ones lose them, and the number at which they do. */
const KEPT_WITH_CALLS = 20;
const MAX_WITH_CALLS = 40;
/** Characters of whole calls, and of what stood beside messages: about 15,000 tokens. */
const MAX_WHOLE = 60_000;
/** The same, for each token of the window: about a quarter of it. */
const WHOLE_PER_TOKEN = 0.75;

/**
 * From where on the messages have their calls, and everything whole: from where they had them in the turn before, `last`, unless that is
 * too much by now. Then only the newest turn stays whole, and the calls of the newest 20 messages are shown with short results.
 */
export function wholeFrom(
  messages: readonly MessageExtent[],
  last: ShownFrom | null,
  window: number,
): Pick<ShownFrom, 'callsFrom' | 'wholeFrom'> {
  let { callsFrom, wholeFrom: whole } = last ?? { callsFrom: 0, wholeFrom: 0 };
  const withCalls = messages.filter(({ seq }) => seq >= callsFrom);
  const length = messages.reduce((sum, { seq, extra }) => sum + (seq >= whole ? extra : 0), 0);
  if (length <= Math.min(MAX_WHOLE, window * WHOLE_PER_TOKEN) && withCalls.length <= MAX_WITH_CALLS) {
    return { callsFrom, wholeFrom: whole };
  }
  if (withCalls.length > KEPT_WITH_CALLS) callsFrom = withCalls.at(-KEPT_WITH_CALLS)?.seq ?? callsFrom;
  whole = messages.findLast(({ isOfUser }) => isOfUser)?.seq ?? whole;
  return { callsFrom, wholeFrom: Math.max(callsFrom, whole) };
}
