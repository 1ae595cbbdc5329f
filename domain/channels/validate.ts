import type { ValidateFunction } from 'ajv';
import { createRequestAjv } from '../../core/ajv.ts';
import { type ErrorCode, type ErrorDetail, fault } from '../../core/errors.ts';
import { below, faultAt, toFaults } from '../../core/faults.ts';
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
  const path = `/body/${part}`;
  const details = validate?.(value) ? wrongOrigins(value, path) : toFaults(validate?.errors, path);
  if (!validate) details.push(faultAt(path, `${type.type} takes none`));
  if (details.length > 0) throw fault(PARTS[part].code, undefined, { details });
}

/** Origins that no browser sends as they are written, such as one with the port that its scheme has anyway: they would never match. */
function wrongOrigins({ allowedOrigins = [] }: { allowedOrigins?: string[] }, path: string): ErrorDetail[] {
  return allowedOrigins.flatMap((origin, index) => {
    const sent = URL.parse(origin)?.origin;
    if (sent === origin) return [];
    return [faultAt(below(path, 'allowedOrigins', index), sent ? `must be written ${sent}` : 'is no origin')];
  });
}
