/** A day: longer than any request takes, and what timers can hold. */
const MAX_SECONDS = 86_400;

/** A number of seconds from the command line, above 0 and at most a day; undefined for anything else. */
export function seconds(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && value > 0 && value <= MAX_SECONDS ? value : undefined;
}
