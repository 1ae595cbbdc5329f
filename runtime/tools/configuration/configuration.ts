import { type ErrorDetail, fault } from '../../../core/errors.ts';
import { customIntegrationFaults } from '../kinds/customIntegration.ts';
import { databaseQueryFaults } from '../kinds/databaseQuery.ts';
import { httpRequestFaults } from '../kinds/httpRequest.ts';
import { internalVariableFaults } from '../kinds/internalVariable.ts';
import type { ImportedOperation } from '../openapi/endpoint.ts';
import { type Secrets, separateSecrets } from '../secrets/secrets.ts';
import type { ToolType } from '../tool.ts';
import { CONFIGURATION, distinct, faultAt } from './faults.ts';

/** A configuration that may be stored. */
export interface CheckedConfiguration {
  /** Secret values read `********`. */
  visible: Record<string, unknown>;
  secrets: Secrets;
  /** Of a CUSTOM_INTEGRATION: what was imported from its document. */
  operations: ImportedOperation[] | null;
}

function refuse(faults: readonly ErrorDetail[]): never {
  throw fault('INVALID_TOOL_CONFIGURATION', undefined, { details: distinct(faults) });
}

/**
 * The secrets of a configuration apart from the rest; `********` keeps one of `present`. Throws INVALID_TOOL_CONFIGURATION
 * where there is none to keep.
 */
export function keepSecrets(type: ToolType, configuration: Record<string, unknown>, present: Secrets) {
  const { visible, secrets, missing } = separateSecrets(type, configuration, present);
  if (missing.length > 0) refuse(missing.map(missingSecret));
  return { visible, secrets };
}

function missingSecret(pointer: string): ErrorDetail {
  return faultAt(CONFIGURATION + pointer, 'is ******** and no value is stored that it could keep', 'secret');
}

/**
 * Holds a configuration against its type, imports the document of a CUSTOM_INTEGRATION, and takes the secrets out. Every fault
 * is named. May call an address that the tenant chose, so it does not belong in a transaction. Throws INVALID_TOOL_CONFIGURATION.
 */
export async function checkConfiguration(
  type: ToolType,
  configuration: Record<string, unknown>,
  options: { allowPrivateNetwork: boolean; present?: Secrets },
): Promise<CheckedConfiguration> {
  const { visible, secrets, missing } = separateSecrets(type, configuration, options.present);
  // Put together by concat: there can be more faults than a call takes arguments.
  let faults = missing.map(missingSecret);
  let operations: ImportedOperation[] | null = null;
  switch (type) {
    case 'HTTP_REQUEST':
      faults = faults.concat(httpRequestFaults(configuration, CONFIGURATION));
      break;
    case 'DATABASE_QUERY':
      faults = faults.concat(databaseQueryFaults(configuration, CONFIGURATION));
      break;
    case 'INTERNAL_VARIABLE':
      faults = faults.concat(internalVariableFaults(configuration, CONFIGURATION));
      break;
    case 'CUSTOM_INTEGRATION': {
      const imported = await customIntegrationFaults(configuration, CONFIGURATION, options.allowPrivateNetwork);
      faults = faults.concat(imported.faults);
      operations = imported.operations;
    }
  }
  if (faults.length > 0) refuse(faults);
  return { visible, secrets, operations };
}
