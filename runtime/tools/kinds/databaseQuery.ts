import type { ErrorDetail } from '../../../core/errors.ts';
import { below, checkShape, faultAt } from '../configuration/faults.ts';
import { declaredInputs, inputSchemaFaults } from '../configuration/inputSchema.ts';
import { checkConnection, checkQuery, parametersOf } from '../databaseQuery/databaseQuery.ts';
import { HIDDEN } from '../secrets/secrets.ts';
import type { DatabaseQueryConfiguration } from '../tool.ts';
import { TIMEOUT_SECONDS } from './httpRequest.ts';

const SHAPE = {
  type: 'object',
  required: ['connection', 'query'],
  additionalProperties: false,
  properties: {
    connection: { type: 'string' },
    query: { type: 'string' },
    inputSchema: { type: 'object' },
    maxRows: { type: 'integer', minimum: 1, maximum: 1000 },
    timeoutSeconds: TIMEOUT_SECONDS,
  },
};

/** What is wrong with the configuration of a DATABASE_QUERY. */
export function databaseQueryFaults(configuration: Record<string, unknown>, path: string): ErrorDetail[] {
  const { faults, sound } = checkShape<DatabaseQueryConfiguration>(SHAPE, configuration, path);
  const { connection = HIDDEN, query, inputSchema } = sound;
  const aboutConnection = connection === HIDDEN ? undefined : checkConnection(connection);
  if (aboutConnection !== undefined) faults.push(faultAt(below(path, 'connection'), aboutConnection, 'format'));
  if (inputSchema !== undefined) faults.push(...inputSchemaFaults(inputSchema, below(path, 'inputSchema')));
  if (query === undefined) return faults;
  const aboutQuery = checkQuery(query);
  if (aboutQuery !== undefined) return [...faults, faultAt(below(path, 'query'), aboutQuery, 'format')];
  const declared = declaredInputs(inputSchema);
  for (const name of parametersOf(query).filter((each) => declared?.has(each) === false)) {
    faults.push(faultAt(below(path, 'query'), `:${name} is not a property of the inputSchema`, 'placeholder'));
  }
  return faults;
}
