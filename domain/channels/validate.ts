import type { ValidateFunction } from 'ajv';
import { createRequestAjv } from '../../core/ajv.ts';
import { type ErrorCode, fault } from '../../core/errors.ts';
import { faultAt, toFaults } from '../../core/faults.ts';
import { type ChannelType, operatorSchemasOf } from '../../integrations/channels/types.ts';

/** The parts of a connection that its channel type has a schema for, and the code of one that does not fit. */
const PARTS = {
  channelSpecificConfig: { schema: 'configSchema', code: 'INVALID_CHANNEL_CONFIG' },
  credentials: { schema: 'credentialsSchema', code: 'INVALID_CHANNEL_CREDENTIALS' },
} as const satisfies Record<string, { schema: string; code: ErrorCode }>;

/** A part of a connection that is validated. */
export type ConnectionPart = keyof typeof PARTS;

/** Each schema is compiled once in a process. */
const compiled = new Map<string, ValidateFunction>();

function validatorOf(type: ChannelType, part: ConnectionPart): ValidateFunction | undefined {
  const schema = operatorSchemasOf(type)[PARTS[part].schema];
  if (schema === null) return undefined;
  const key = `${type.type} ${part}`;
  const validator = compiled.get(key) ?? createRequestAjv().compile(schema);
  compiled.set(key, validator);
  return validator;
}

/**
 * Checks the configuration or the credentials of a connection against the schema of its type. Throws INVALID_CHANNEL_CONFIG or
 * INVALID_CHANNEL_CREDENTIALS, with what is wrong where.
 */
export function checkConnectionPart(type: ChannelType, part: ConnectionPart, value: object): void {
  const validate = validatorOf(type, part);
  if (validate?.(value)) return;
  const path = `/body/${part}`;
  const details = validate ? toFaults(validate.errors, path) : [faultAt(path, `${type.type} takes none`)];
  throw fault(PARTS[part].code, undefined, { details });
}
