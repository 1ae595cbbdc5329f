import type { JsonObject, JsonValue } from '../json.ts';
import type { ChangeContext, Known, Place, SecretPlace } from '../kind.ts';
import { HIDDEN, isSecretReference, suggestReference } from '../secrets/reference.ts';

/** Where an entry has secret values: names of fields, `*` for every field. */
export type SecretPaths = readonly (readonly string[])[];

type At = (string | number)[];

/** The fields with other values at the places of secrets. */
export function swapSecrets(
  fields: JsonObject,
  paths: SecretPaths,
  swap: (value: JsonValue, at: At) => JsonValue,
): JsonObject {
  return paths.reduce((made, path) => swapAt(made, path, [], swap) as JsonObject, fields);
}

function swapAt(
  value: JsonValue,
  path: readonly string[],
  at: At,
  swap: (value: JsonValue, at: At) => JsonValue,
): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return swap(value, at);
  if (Array.isArray(value))
    return step === '*' ? value.map((item, index) => swapAt(item, rest, [...at, index], swap)) : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      step === '*' || step === name ? swapAt(inner, rest, [...at, name], swap) : inner,
    ]),
  );
}

/** The references in the fields, and where they stand. */
export function secretsIn(fields: JsonObject, paths: SecretPaths): SecretPlace[] {
  const found: SecretPlace[] = [];
  swapSecrets(fields, paths, (value, at) => {
    if (isSecretReference(value)) found.push({ reference: value, at });
    return value;
  });
  return found;
}

/** Throws the fault of a value that stands where a reference belongs. The message does not repeat it. */
export function demandReferences(fields: JsonObject, paths: SecretPaths, place: Pick<Place, 'fault'>): void {
  swapSecrets(fields, paths, (value, at) => {
    if (!isSecretReference(value)) throw place.fault(at, literalSecret(at));
    return value;
  });
}

/** The sentence about a secret value in a file. */
export function literalSecret(at: At): string {
  return `\`${at.at(-1)}\` is a secret. Write \`env:NAME\` or \`file:PATH\` here, and keep the value out of the file.`;
}

/** What the lock file keeps of the secrets of a thing: their references by their places. */
export function keptSecrets(fields: JsonObject, paths: SecretPaths): JsonObject {
  const found = secretsIn(fields, paths).map(({ reference, at }) => [at.join('.'), reference]);
  return found.length === 0 ? {} : { secrets: Object.fromEntries(found) };
}

/** The reference that was used for a secret of the service, or else one that is made of the words. */
export function referenceFor(known: Known | undefined, at: At, ...words: string[]): string {
  const kept = known?.kept?.secrets as Record<string, JsonValue> | undefined;
  const key = at.join('.');
  const reference = kept && Object.hasOwn(kept, key) ? kept[key] : undefined;
  return isSecretReference(reference) ? reference : suggestReference(...words);
}

/** What the service gave, with references in place of the secrets that it hides. */
export function withReferences(
  fields: JsonObject,
  paths: SecretPaths,
  known: Known | undefined,
  words: (at: At) => string[],
): JsonObject {
  return swapSecrets(fields, paths, (value, at) => (value === HIDDEN ? referenceFor(known, at, ...words(at)) : value));
}

/** The secrets of `after` that must be sent: all of them, or those whose reference is another one than before. */
export function secretsToSend(
  before: JsonObject | undefined,
  after: JsonObject,
  paths: SecretPaths,
  all: boolean,
): SecretPlace[] {
  const wanted = secretsIn(after, paths);
  if (all || !before) return wanted;
  const present = new Map(secretsIn(before, paths).map(({ at, reference }) => [at.join('.'), reference]));
  return wanted.filter(({ at, reference }) => present.get(at.join('.')) !== reference);
}

/** The fields with the values of these secrets, and `********` for the others, which keeps what the service has. */
export async function withValues(
  fields: JsonObject,
  paths: SecretPaths,
  send: readonly SecretPlace[],
  context: Pick<ChangeContext, 'secret'>,
): Promise<JsonObject> {
  const values = new Map<string, string>();
  for (const { reference, at } of send) values.set(at.join('.'), await context.secret(reference));
  return swapSecrets(fields, paths, (value, at) =>
    isSecretReference(value) ? (values.get(at.join('.')) ?? HIDDEN) : value,
  );
}
