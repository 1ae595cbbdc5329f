import { below } from '../../../core/faults.ts';
import type { SecretBox, SecretPlace } from '../../../core/secrets.ts';
import { SecretUnreadable } from '../../../core/secrets.ts';
import { ToolFailure } from '../failure.ts';
import type { RunnableTool } from '../tool.ts';

/** What the API shows in place of a secret value. A request that sends it keeps the stored value. */
export const HIDDEN = '********';

/** Secret values by their JSON Pointer in the configuration. */
export type Secrets = Record<string, string>;

/** Where a kind of tool has its secrets: `ToolKind.secretPaths`. */
type SecretPaths = readonly (readonly string[])[];

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

function replaceSecrets(
  paths: SecretPaths,
  configuration: Record<string, unknown>,
  swap: (text: string, pointer: string) => string,
): Record<string, unknown> {
  // A step that does not match leaves the object an object.
  return paths.reduce((made, path) => replaceAt(made, path, '', swap) as Record<string, unknown>, configuration);
}

/** A configuration without its secret values. */
export interface SeparatedConfiguration {
  /** Secret values read `********`. */
  visible: Record<string, unknown>;
  secrets: Secrets;
  /** Pointers of the values that came as `********` and are stored. */
  kept: string[];
  /** Pointers of the values that came as `********` and are not stored either. */
  missing: string[];
}

/**
 * Takes the secret values out of a configuration. A value that comes as `********` is taken from `stored`. The configuration
 * need not be valid.
 */
export function separateSecrets(
  paths: SecretPaths,
  configuration: Record<string, unknown>,
  stored: Secrets = {},
): SeparatedConfiguration {
  const secrets: Secrets = {};
  const kept: string[] = [];
  const missing: string[] = [];
  const visible = replaceSecrets(paths, configuration, (text, pointer) => {
    const value = text === HIDDEN ? stored[pointer] : text;
    if (value === undefined) missing.push(pointer);
    else secrets[pointer] = value;
    if (text === HIDDEN && value !== undefined) kept.push(pointer);
    return HIDDEN;
  });
  return { visible, secrets, kept, missing };
}

/** The configuration with its secret values in their places. */
export function joinSecrets(
  paths: SecretPaths,
  visible: Record<string, unknown>,
  secrets: Secrets,
): Record<string, unknown> {
  return replaceSecrets(paths, visible, (text, pointer) => secrets[pointer] ?? text);
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
export function openSecrets(box: SecretBox, workspaceId: string, tool: Pick<RunnableTool, 'id' | 'secrets'>): Secrets {
  if (tool.secrets === null) return {};
  try {
    return JSON.parse(box.open(tool.secrets, placeOf(workspaceId, tool.id))) as Secrets;
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    throw new ToolFailure('The secrets of the tool cannot be read any more. Write them again.', { cause: error });
  }
}

/** The secrets that a change of the tool may keep; none when they cannot be read any more. */
export function storedSecrets(
  box: SecretBox,
  workspaceId: string,
  tool: Pick<RunnableTool, 'id' | 'secrets'>,
): Secrets {
  try {
    return openSecrets(box, workspaceId, tool);
  } catch (error) {
    if (error instanceof ToolFailure) return {};
    throw error;
  }
}
