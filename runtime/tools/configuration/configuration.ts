import { type ErrorDetail, fault } from '../../../core/errors.ts';
import { distinct, faultAt } from '../../../core/faults.ts';
import { checkForm } from '../../../core/namedSchemas.ts';
import type { ImportedEndpoint } from '../../../db/stored/importedEndpoint.ts';
import type { CheckOptions } from '../kinds/kind.ts';
import { TOOL_KINDS } from '../kinds/kinds.ts';
import { type Secrets, type SeparatedConfiguration, separateSecrets } from '../secrets/secrets.ts';
import type { ToolType } from '../tool.ts';

/** JSON Pointer of the configuration in a request. */
const CONFIGURATION = '/body/configuration';

/** A configuration that may be stored. */
export interface CheckedConfiguration extends Omit<SeparatedConfiguration, 'missing'> {
  /** What a CUSTOM_INTEGRATION imported from its document; null for the other kinds. */
  endpoints: ImportedEndpoint[] | null;
}

function missingSecrets(pointers: readonly string[]): ErrorDetail[] {
  const message = 'is ******** and no value is stored that it could keep';
  return pointers.map((pointer) => faultAt(CONFIGURATION + pointer, message, 'secret'));
}

function refuse(faults: readonly ErrorDetail[]): void {
  if (faults.length > 0) throw fault('INVALID_TOOL_CONFIGURATION', undefined, { details: distinct(faults) });
}

/**
 * Separates the secrets of a configuration from the rest; `********` keeps the value in `stored`. Throws
 * INVALID_TOOL_CONFIGURATION where there is none to keep.
 */
export function keepSecrets(
  type: ToolType,
  configuration: Record<string, unknown>,
  stored: Secrets,
): Omit<SeparatedConfiguration, 'missing'> {
  const { visible, secrets, missing } = separateSecrets(TOOL_KINDS[type].secretPaths, configuration, stored);
  refuse(missingSecrets(missing));
  return { visible, secrets };
}

/**
 * Checks a configuration against its schema and the rules of its kind, imports the document of a CUSTOM_INTEGRATION, and separates the secrets; `********`
 * keeps the value in `stored`. May call an address that the tenant chose, so it must not run in a transaction. Throws
 * INVALID_TOOL_CONFIGURATION, which lists every fault, and RATE_LIMITED when too many documents wait.
 */
export async function checkConfiguration(
  type: ToolType,
  configuration: Record<string, unknown>,
  { stored, ...options }: CheckOptions & { stored?: Secrets },
): Promise<CheckedConfiguration> {
  const kind = TOOL_KINDS[type];
  const { visible, secrets, missing } = separateSecrets(kind.secretPaths, configuration, stored);
  const form = checkForm('HttpToolConfiguration', type, configuration, CONFIGURATION);
  const { faults, endpoints = null } = await kind.check(form, CONFIGURATION, options);
  refuse([...missingSecrets(missing), ...faults]);
  return { visible, secrets, endpoints };
}
