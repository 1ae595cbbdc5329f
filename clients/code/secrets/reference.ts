/** Where a secret value comes from: `env:NAME`, a variable of the environment, or `file:PATH`, a file. It stands in a file in place of the value. */
export type SecretReference = `env:${string}` | `file:${string}`;

/** What the service shows in place of a secret value that is set. Sent back in a tool or a trigger, it keeps the stored value. */
export const HIDDEN = '********';

/** Names that shells take for variables (POSIX, Environment Variable Definition). */
const REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/;

/** Whether a value is a reference to a secret. */
export function isSecretReference(value: unknown): value is SecretReference {
  return typeof value === 'string' && REFERENCE.test(value);
}

/**
 * The reference that `pull` writes for a secret which the service has: `env:` and a name made of these words, such as
 * `env:TOOL_GET_ORDER_TOKEN`. The same words give the same name always.
 */
export function suggestReference(...words: string[]): SecretReference {
  const name = words
    .map((word) => word.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/[^A-Za-z0-9]+/g, '_'))
    .map((word) => word.replaceAll(/^_+|_+$/g, ''))
    .filter((word) => word !== '')
    .join('_')
    .toUpperCase();
  return `env:${/^[A-Z]/.test(name) ? name : `SECRET_${name}`}`;
}
