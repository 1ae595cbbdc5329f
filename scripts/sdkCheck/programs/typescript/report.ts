/** What the check prepared for this program. */
export const env = process.env as Record<string, string>;
export const BASE_URL = `${env.GUILDHALL_ORIGIN}/public/api/v1`;

/** Does one step and prints a line for the check: the step and its values, or `!`, the step and the reason. */
export async function step(name: string, work: () => Promise<(string | number | undefined)[]>): Promise<void> {
  try {
    const values = (await work()).map((value) => String(value).replaceAll(/\s+/g, ' '));
    console.log([name, ...values].join('\t'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : JSON.stringify(error);
    console.log(`!${name}\t${reason.replaceAll(/\s+/g, ' ')}`);
  }
}

/** The value, or an error when the client gave none. */
export function must<Value>(value: Value | undefined | null, error?: unknown): Value {
  if (value === undefined || value === null) throw new Error(`no value: ${JSON.stringify(error)}`);
  return value;
}
