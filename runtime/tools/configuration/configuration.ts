import { type ErrorDetail, fault } from '../../../core/errors.ts';
import { distinct, faultAt } from '../../../core/faults.ts';
import { checkForm } from '../../../core/namedSchemas.ts';
import type { ImportedEndpoint } from '../../../db/stored/importedEndpoint.ts';
import type { CheckOptions } from '../kinds/kind.ts';
import { TOOL_KINDS } from '../kinds/kinds.ts';
import { joinSecrets, type Secrets, type SeparatedConfiguration, separateSecrets } from '../secrets/secrets.ts';
import type { ToolType } from '../tool.ts';

/** JSON Pointer of the configuration in a request. */
const CONFIGURATION = '/body/configuration';

/** A configuration that may be stored. */
export interface CheckedConfiguration extends Pick<SeparatedConfiguration, 'visible' | 'secrets'> {
  /** What a CUSTOM_INTEGRATION imported from its document; null for the other kinds. */
  endpoints: ImportedEndpoint[] | null;
}

/** What a tool has stored before a change: `********` keeps its secrets. */
export interface PresentConfiguration {
  visible: Record<string, unknown>;
  secrets: Secrets;
  endpoints: readonly ImportedEndpoint[];
}

function missingSecrets(pointers: readonly string[]): ErrorDetail[] {
  const message = 'is ******** and no value is stored that it could keep';
  return pointers.map((pointer) => faultAt(CONFIGURATION + pointer, message, 'secret'));
}

function refuse(faults: readonly ErrorDetail[]): void {
  if (faults.length > 0) throw fault('INVALID_TOOL_CONFIGURATION', undefined, { details: distinct(faults) });
}

/**
 * The kept secrets that the changed tool would send to an origin that the present one does not send them to. Who may change a tool
 * could otherwise read its secrets: by another address, which belongs to them, and a run.
 */
function misdirectedSecrets(
  type: ToolType,
  { visible, secrets, kept }: SeparatedConfiguration,
  endpoints: readonly ImportedEndpoint[],
  present: PresentConfiguration | undefined,
): ErrorDetail[] {
  if (kept.length === 0 || present === undefined) return [];
  const { origins, secretPaths } = TOOL_KINDS[type];
  const originsOf = (one: PresentConfiguration) =>
    origins({ configuration: joinSecrets(secretPaths, one.visible, one.secrets), endpoints: one.endpoints });
  const before = new Set(originsOf(present));
  if (originsOf({ visible, secrets, endpoints }).every((origin) => before.has(origin))) return [];
  const message =
    'is ********, which keeps no value here: the tool calls another origin (scheme, host and port) than the one that the value was given for. Send the value again';
  return kept.map((pointer) => faultAt(CONFIGURATION + pointer, message, 'secret'));
}

/**
 * Separates the secrets of a configuration that passed `checkConfiguration` from the rest; `********` keeps the value of `present`.
 * Throws INVALID_TOOL_CONFIGURATION where there is none to keep, or where it would go to another origin.
 */
export function keepSecrets(
  type: ToolType,
  configuration: Record<string, unknown>,
  endpoints: readonly ImportedEndpoint[] | null,
  present: PresentConfiguration,
): Pick<SeparatedConfiguration, 'visible' | 'secrets'> {
  const separated = separateSecrets(TOOL_KINDS[type].secretPaths, configuration, present.secrets);
  refuse(missingSecrets(separated.missing));
  refuse(misdirectedSecrets(type, separated, endpoints ?? [], present));
  return { visible: separated.visible, secrets: separated.secrets };
}

/**
 * Checks a configuration against its schema and the rules of its kind, imports the document of a CUSTOM_INTEGRATION, and separates the secrets; `********`
 * keeps the value of `present` for the origin that it was given for. May call an address that the tenant chose, so it must not run in a
 * transaction. Throws INVALID_TOOL_CONFIGURATION, which lists every fault, and RATE_LIMITED when too many documents wait.
 */
export async function checkConfiguration(
  type: ToolType,
  configuration: Record<string, unknown>,
  { present, ...options }: CheckOptions & { present?: PresentConfiguration | undefined },
): Promise<CheckedConfiguration> {
  const kind = TOOL_KINDS[type];
  const separated = separateSecrets(kind.secretPaths, configuration, present?.secrets);
  const form = checkForm('HttpToolConfiguration', type, configuration, CONFIGURATION);
  const { faults, endpoints = null } = await kind.check(form, CONFIGURATION, options);
  refuse([...missingSecrets(separated.missing), ...faults]);
  refuse(misdirectedSecrets(type, separated, endpoints ?? [], present));
  return { visible: separated.visible, secrets: separated.secrets, endpoints };
}
