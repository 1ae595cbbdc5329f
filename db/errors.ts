import type { ApiError, ErrorCode } from '../core/errors.ts';
import { fault } from '../core/errors.ts';
import { refusalOf } from './refusals.ts';

const RETRY_AFTER_SECONDS = '2';

/** Values that PostgreSQL cannot store or read: NUL, bad UTF-8, numbers and dates out of range, escapes, too deep nesting. */
const BAD_VALUE = new Set([
  '22P02',
  '22021',
  '22P05',
  '22003',
  '22008',
  '22009',
  '2201B',
  '22025',
  '22001',
  '22007',
  '22023',
  '2201E',
  '2201F',
  '2201G',
  '2201W',
  '2201X',
  '54001',
]);

/** Out of connections, starting or stopping, cancelled by statement_timeout, or lost to another transaction once too often. */
const OUT_OF_REACH = new Set(['53300', '53400', '57P01', '57P02', '57P03', '57014', '25P03', '40001', '40P01']);

const SOCKET_FAILURE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Messages of pg without a code, for a connection that cannot be made or is lost. */
const CONNECTION_MESSAGE =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/** Unique and foreign keys by name, and the code that a violation has for the API. */
const CONSTRAINTS: Readonly<Record<string, ErrorCode>> = {
  agents_name_key: 'AGENT_NAME_TAKEN',
  clients_name_key: 'CLIENT_NAME_TAKEN',
  agent_variables_name_key: 'VARIABLE_NAME_TAKEN',
  agent_variables_agent_fkey: 'AGENT_NOT_FOUND',
  agent_versions_agent_fkey: 'AGENT_NOT_FOUND',
  agent_commands_name_key: 'COMMAND_NAME_TAKEN',
  agent_commands_slug_key: 'COMMAND_SLUG_TAKEN',
  agent_commands_agent_fkey: 'AGENT_NOT_FOUND',
  agent_links_key: 'ALREADY_LINKED',
  agent_links_agent_fkey: 'AGENT_NOT_FOUND',
  automations_name_key: 'AUTOMATION_NAME_TAKEN',
  automations_agent_fkey: 'AGENT_NOT_FOUND',
  channel_connections_agent_fkey: 'AGENT_NOT_FOUND',
  channel_connections_type_key: 'CHANNEL_ALREADY_CONNECTED',
  channel_connections_account_key: 'ZAPI_INSTANCE_ID_ALREADY_USED',
  skills_name_key: 'SKILL_NAME_TAKEN',
  http_tools_name_key: 'HTTP_TOOL_NAME_TAKEN',
  external_mcps_name_key: 'EXTERNAL_MCP_NAME_TAKEN',
  external_links_title_key: 'EXTERNAL_LINK_TITLE_TAKEN',
  hub_names_pkey: 'SUBDOMAIN_TAKEN',
  conversations_agent_fkey: 'AGENT_NOT_FOUND',
  credit_packages_name_key: 'CREDIT_PACKAGE_NAME_TAKEN',
  plans_name_key: 'PLAN_NAME_TAKEN',
  coupons_code_key: 'COUPON_CODE_TAKEN',
  messages_conversation_fkey: 'CONVERSATION_NOT_FOUND',
};

/**
 * The API error for a failure of the database, or undefined when the failure is a fault of ours (an unknown constraint included)
 * or no database failure at all. SQLSTATE: PostgreSQL documentation, appendix A.
 */
export function databaseFault(error: unknown): ApiError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, constraint, message = '' } = error as { code?: unknown; constraint?: string; message?: string };
  if (typeof code === 'string') {
    if (code === '23505' || code === '23503') {
      const known = constraint === undefined ? undefined : CONSTRAINTS[constraint];
      return known && fault(known, undefined, { cause: error });
    }
    if (BAD_VALUE.has(code)) {
      return fault('VALIDATION_ERROR', 'A value of the request cannot be stored.', { cause: error });
    }
    if (OUT_OF_REACH.has(code) || /^08...$/.test(code) || SOCKET_FAILURE.has(code) || refusalOf(error) !== undefined)
      return unavailable(error);
    return undefined;
  }
  return CONNECTION_MESSAGE.test(message) ? unavailable(error) : undefined;
}

function unavailable(cause: unknown): ApiError {
  return fault('UNAVAILABLE', undefined, { headers: { 'Retry-After': RETRY_AFTER_SECONDS }, cause });
}
