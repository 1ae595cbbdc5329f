/** The name of the unique constraint or index that the error reports as violated, if it is such an error. */
export function violatedUnique(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23505' && typeof constraint === 'string' ? constraint : undefined;
}

/** Runs `write`; a violation of the named unique constraint is thrown as `taken()` instead. */
export async function orTaken<T>(constraint: string, taken: () => Error, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw violatedUnique(error) === constraint ? taken() : error;
  }
}
