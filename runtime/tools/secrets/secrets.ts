import type { SecretBox, SecretPlace } from '../../../core/secrets.ts';
import { SecretUnreadable } from '../../../core/secrets.ts';
import { below } from '../configuration/faults.ts';
import { ToolFailure } from '../failure.ts';
import type { StoredTool, ToolType } from '../tool.ts';

/** What stands in a configuration for a secret value. Sent back, it keeps the value that is stored. */
export const HIDDEN = '********';

/** Secret values by their JSON Pointer in the configuration. */
export type Secrets = Record<string, string>;

/** Where a kind of tool has its secrets: the path to one, or to an object of them when it ends in `*`. */
const PLACES: Readonly<Record<ToolType, readonly (readonly string[])[]>> = {
  HTTP_REQUEST: [['secrets', '*']],
  DATABASE_QUERY: [['connection']],
  INTERNAL_VARIABLE: [],
  CUSTOM_INTEGRATION: [['auth', 'secret']],
};

function replaceAt(
  value: unknown,
  path: readonly string[],
  at: string,
  swap: (text: string, pointer: string) => string,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return typeof value === 'string' ? swap(value, at) : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      step === '*' || step === key ? replaceAt(inner, rest, below(at, key), swap) : inner,
    ]),
  );
}

function replaceSecrets<T extends object>(
  type: ToolType,
  configuration: T,
  swap: (text: string, pointer: string) => string,
): T {
  return PLACES[type].reduce<T>((made, place) => replaceAt(made, place, '', swap) as T, configuration);
}

/** A configuration cut in two, and the pointers of secrets that are to be kept where none is stored. */
export interface Separated<T> {
  visible: T;
  secrets: Secrets;
  missing: string[];
}

/**
 * Takes the secret values out of a configuration. One that is sent as `********` is taken from `present`. The configuration
 * may still be wrong otherwise.
 */
export function separateSecrets<T extends object>(
  type: ToolType,
  configuration: T,
  present: Secrets = {},
): Separated<T> {
  const secrets: Secrets = {};
  const missing: string[] = [];
  const visible = replaceSecrets(type, configuration, (text, pointer) => {
    const value = text === HIDDEN ? present[pointer] : text;
    if (value === undefined) missing.push(pointer);
    else secrets[pointer] = value;
    return HIDDEN;
  });
  return { visible, secrets, missing };
}

/** The configuration with its secret values in their places. */
export function joinSecrets<T extends object>(type: ToolType, visible: T, secrets: Secrets): T {
  return replaceSecrets(type, visible, (text, pointer) => secrets[pointer] ?? text);
}

function placeOf(workspaceId: string, toolId: string): SecretPlace {
  return { workspaceId, table: 'http_tools', rowId: toolId, column: 'secrets' };
}

/** Encrypts secrets for the row of one tool; null when there are none. */
export function sealSecrets(box: SecretBox, workspaceId: string, toolId: string, secrets: Secrets): Buffer | null {
  if (Object.keys(secrets).length === 0) return null;
  return box.seal(JSON.stringify(secrets), placeOf(workspaceId, toolId));
}

/** The secrets of a tool. Throws ToolFailure when they cannot be read. */
export function openSecrets(box: SecretBox, workspaceId: string, tool: Pick<StoredTool, 'id' | 'secrets'>): Secrets {
  if (tool.secrets === null) return {};
  try {
    return JSON.parse(box.open(tool.secrets, placeOf(workspaceId, tool.id))) as Secrets;
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    throw new ToolFailure('The secrets of the tool cannot be read any more. Write them again.', { cause: error });
  }
}

/** The secrets of a tool that a change may keep: those that cannot be read count as gone. */
export function storedSecrets(box: SecretBox, workspaceId: string, tool: Pick<StoredTool, 'id' | 'secrets'>): Secrets {
  try {
    return openSecrets(box, workspaceId, tool);
  } catch (error) {
    if (error instanceof ToolFailure) return {};
    throw error;
  }
}
