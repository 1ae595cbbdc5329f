const MAX_SHOWN_CHARS = 300;
/** A sequence of this many characters that is in the prompt too counts as a quotation. */
const QUOTE = 20;
const MAX_PROMPT_CHARS = 100_000;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // user:password@ in addresses, and keys in their queries
  [/\/\/[^\s/@]+@/g, '//'],
  [/([?&](?:key|api[-_]?key|token|access_token|signature|sig)=)[^\s&"']+/gi, '$1[redacted]'],
  [/\b(bearer|basic|token)\s+[\w.~+/*=-]{6,}/gi, '$1 [redacted]'],
  [/((?:x-)?api[-_ ]?key["']?\s*[:=]\s*["']?)[\w.*-]{6,}/gi, '$1[redacted]'],
  [/\b(?:sk|rk|pk|gsk|xai|AIza|ya29|ghp|hf)[-_.]?[\w*-]*[*\d][\w*.-]{4,}/g, '[redacted]'],
  // a masked key, as providers echo it: abcd****wxyz
  [/[\w-]*\*{3,}[\w*-]*/g, '[redacted]'],
  // any other long opaque run
  [/\b(?=[\w-]*\d)[\w-]{32,}\b/g, '[redacted]'],
];

/** Replaces everything in a text that is quoted from `said`: whole texts, and sequences of QUOTE characters. */
export function withoutQuotes(text: string, said: readonly string[]): string {
  let result = text;
  for (const whole of said) {
    const trimmed = whole.trim();
    if (trimmed.length >= 8) result = result.replaceAll(trimmed, '[…]');
  }
  const haystack = said.join('\n').slice(0, MAX_PROMPT_CHARS);
  if (haystack.length < QUOTE) return result;
  // Each sequence of the prompt is looked up among the few of the text: a search for each of those would take a hundred times as long.
  const quotable = sequencesInBoth(result, haystack);
  let kept = '';
  for (let at = 0; at < result.length; ) {
    let end = at;
    while (end + QUOTE <= result.length && quotable.has(result.slice(end, end + QUOTE))) end += 1;
    if (end > at) {
      kept += '[…]';
      at = end + QUOTE - 1;
    } else {
      kept += result[at];
      at += 1;
    }
  }
  return kept;
}

/** A number that equal sequences share, from three of their characters. */
const markOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + QUOTE / 2) * 31 + text.charCodeAt(at + QUOTE - 1)) & 0xffff;

/**
 * The sequences of QUOTE characters that both texts have. Few places of a long text have a mark that is still sought, so hardly any
 * sequence is made.
 */
function sequencesInBoth(text: string, haystack: string): Set<string> {
  const sought = new Set<string>();
  /** How many of those that were not found yet have each mark. */
  const marks = new Uint16Array(0x10000);
  for (let at = 0; at + QUOTE <= text.length; at += 1) {
    const sequence = text.slice(at, at + QUOTE);
    if (sought.has(sequence)) continue;
    sought.add(sequence);
    const mark = markOf(text, at);
    marks[mark] = (marks[mark] ?? 0) + 1;
  }
  const found = new Set<string>();
  for (let at = 0; at + QUOTE <= haystack.length; at += 1) {
    const mark = markOf(haystack, at);
    const left = marks[mark] ?? 0;
    if (left === 0) continue;
    const sequence = haystack.slice(at, at + QUOTE);
    if (found.has(sequence) || !sought.has(sequence)) continue;
    found.add(sequence);
    marks[mark] = left - 1;
  }
  return found;
}

/**
 * Makes a provider's text safe to show: removes the given secrets, anything that looks like a key, and quotations of `said`, the text
 * of the prompt. Returns one line of at most 300 characters.
 */
export function redact(text: string, secrets: readonly string[], said: readonly string[]): string {
  let result = text.slice(0, 4 * MAX_SHOWN_CHARS);
  for (const secret of secrets) if (secret.length >= 4) result = result.replaceAll(secret, '[redacted]');
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  result = withoutQuotes(result, said)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return result.length <= MAX_SHOWN_CHARS ? result : `${result.slice(0, MAX_SHOWN_CHARS - 1).trimEnd()}…`;
}
