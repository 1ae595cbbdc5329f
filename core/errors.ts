import type { components } from '../generated/api.ts';

/** Every code that the contract knows; the list is `spec/schemas/common/ErrorCode.yaml`. */
export type ErrorCode = components['schemas']['ErrorCode'];

/** One fault of a request, as the `details` of an error body show it. */
export type ErrorDetail = components['schemas']['ErrorDetail'];

/**
 * Code to HTTP status and public text. Typed by the contract's own list, so a code without an entry does not compile;
 * a test holds every status against the `x-error-codes` of the document.
 */
export const ERRORS: Readonly<Record<ErrorCode, { status: number; message: string }>> = {
  AGENT_LIMIT_REACHED: { status: 422, message: 'The workspace has as many agents as its limit allows.' },
  AGENT_NAME_TAKEN: { status: 409, message: 'Another agent of the workspace has this name.' },
  AGENT_NOT_FOUND: { status: 404, message: 'No agent with this id exists in the workspace.' },
  AGENT_NOT_PUBLISHED: { status: 422, message: 'The agent is not published. Publish it before sending messages.' },
  AGENT_TIMEOUT: { status: 408, message: 'The agent did not finish in time.' },
  AI_MODEL_NOT_FOUND: { status: 404, message: 'No AI model with this id is available to the workspace.' },
  AI_MODEL_REQUIRED: { status: 422, message: 'The agent has no AI model. Choose one before publishing.' },
  ALREADY_LINKED: { status: 409, message: 'This is already linked to the agent.' },
  ATTACHMENT_TOO_LARGE: { status: 422, message: 'An attachment is over its size limit.' },
  AUTOMATION_NAME_TAKEN: { status: 409, message: 'Another automation of the agent has this name.' },
  AUTOMATION_NOT_FOUND: { status: 404, message: 'The agent has no automation with this id.' },
  CHANNEL_ALREADY_CONNECTED: { status: 409, message: 'The agent already has a connection of this channel type.' },
  CHANNEL_CONFIG_NOT_ALLOWED_VIA_API: { status: 422, message: 'This channel type is configured in the console only.' },
  CHANNEL_CONNECTION_NOT_FOUND: { status: 404, message: 'The agent has no such channel connection.' },
  CLIENT_NAME_TAKEN: { status: 409, message: 'Another client of the hub has this workspace name.' },
  CLIENT_NOT_ACTIVE: { status: 409, message: 'Only an active client can be suspended.' },
  CLIENT_NOT_FOUND: { status: 404, message: 'No client with this id exists in the hub.' },
  CLIENT_NOT_SUSPENDED: { status: 409, message: 'Only a suspended client can be reactivated.' },
  COMMAND_NAME_TAKEN: { status: 409, message: 'Another command of the agent has this name.' },
  COMMAND_NOT_FOUND: { status: 404, message: 'The agent has no command with this id.' },
  COMMAND_SLUG_TAKEN: { status: 409, message: 'Another command of the agent has this slug.' },
  CONFIRMATION_REQUIRED: { status: 422, message: 'This cannot be undone and needs an explicit confirmation.' },
  CONVERSATION_ENDED: { status: 422, message: 'The conversation has ended. Start a new one.' },
  CONVERSATION_NOT_FOUND: { status: 404, message: 'No conversation with this id exists in the workspace.' },
  CONVERSATION_PAUSED: { status: 422, message: 'The conversation is paused and accepts no messages.' },
  COUPON_CODE_TAKEN: { status: 409, message: 'Another coupon of the hub has this code.' },
  COUPON_NOT_FOUND: { status: 404, message: 'No coupon with this id exists in the hub.' },
  COUPON_RULE_VIOLATED: { status: 422, message: 'The coupon breaks a rule across its fields.' },
  CREDIT_PACKAGE_IN_USE: { status: 409, message: 'Plans still refer to this credit package.' },
  CREDIT_PACKAGE_NAME_TAKEN: { status: 409, message: 'Another credit package of the hub has this name.' },
  CREDIT_PACKAGE_NOT_FOUND: { status: 404, message: 'No credit package with this id exists in the hub.' },
  DEFAULT_PLAN_NOT_FREE: { status: 422, message: 'The default plan of a public hub must be free.' },
  DEFAULT_PLAN_REQUIRED: { status: 422, message: 'A public hub needs a default plan.' },
  EXPECTATION_FAILED: { status: 417, message: 'The only Expect that is known here is 100-continue.' },
  EXTERNAL_LINK_LIMIT_REACHED: { status: 422, message: 'The hub has as many external links as it can hold.' },
  EXTERNAL_LINK_NOT_FOUND: { status: 404, message: 'No external link with this id exists in the hub.' },
  EXTERNAL_LINK_TITLE_TAKEN: { status: 409, message: 'Another external link of the hub has this title.' },
  EXTERNAL_MCP_NAME_TAKEN: { status: 409, message: 'Another external MCP server of the workspace has this name.' },
  EXTERNAL_MCP_NOT_ACTIVE: { status: 422, message: 'The external MCP server is not connected.' },
  EXTERNAL_MCP_NOT_FOUND: { status: 404, message: 'No external MCP server with this id exists in the workspace.' },
  FEATURE_NOT_FOUND: { status: 404, message: 'Agents have no feature with this key.' },
  FEATURE_VALIDATION_ERROR: { status: 422, message: 'The feature settings contradict each other.' },
  HTTP_TOOL_LIMIT_REACHED: { status: 422, message: 'The workspace has as many tools as its limit allows.' },
  HTTP_TOOL_NAME_TAKEN: { status: 409, message: 'Another tool of the workspace has this name.' },
  HTTP_TOOL_NOT_FOUND: { status: 404, message: 'No tool with this id exists in the workspace.' },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'A request with this Idempotency-Key is still running. Send it again.',
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'The Idempotency-Key was used with another request.' },
  IMMUTABLE_FIELD: { status: 400, message: 'The field cannot be changed after creation.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side. Report it with the request id.' },
  INVALID_API_KEY: { status: 401, message: 'The API key is unknown or revoked.' },
  INVALID_API_KEY_FORMAT: { status: 401, message: 'The API key does not have the form of a key.' },
  INVALID_CHANNEL_CONFIG: { status: 400, message: 'The channel configuration does not fit the channel type.' },
  INVALID_CHANNEL_CREDENTIALS: { status: 400, message: 'The channel credentials do not fit the channel type.' },
  INVALID_CHANNEL_TYPE: { status: 400, message: 'There is no channel type of this name.' },
  INVALID_CRON: { status: 400, message: 'The schedule is not a valid cron expression.' },
  INVALID_SIGNATURE: { status: 401, message: 'The signature is missing or wrong.' },
  INVALID_SKILL_ZIP: { status: 400, message: 'The file is not a valid skill bundle.' },
  INVALID_TIMEZONE: { status: 400, message: 'The time zone is not an IANA time zone.' },
  INVALID_TOOL_CONFIGURATION: { status: 422, message: 'The configuration does not fit the type of the tool.' },
  INVALID_TOOL_TYPE: { status: 422, message: 'A tool of this type cannot be created here.' },
  INVITATION_NOT_FOUND: { status: 404, message: 'The client has no pending invitation with this id.' },
  KNOWLEDGE_SOURCE_NOT_FOUND: { status: 404, message: 'No knowledge source with this id exists in the workspace.' },
  LAST_ADMIN: { status: 409, message: 'The last admin of a client cannot be removed or demoted.' },
  MCP_DISCOVERY_FAILED: { status: 422, message: 'The tools of the MCP server could not be discovered.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'The path exists, but not with this method.' },
  MISSING_API_KEY: { status: 401, message: 'Send an API key in X-Api-Key or Authorization: Bearer.' },
  MISSING_VARIABLE: { status: 422, message: 'A required variable of the prompt has no value.' },
  MODEL_PROVIDER_ERROR: { status: 502, message: 'The model provider failed.' },
  NATIVE_MCP_CONNECTION_NOT_FOUND: { status: 404, message: 'The workspace has no such native MCP connection.' },
  NOT_FOUND: { status: 404, message: 'There is nothing at this path.' },
  NOT_IMPLEMENTED: { status: 501, message: 'This operation is not available in this release yet.' },
  NOT_LINKED: { status: 404, message: 'This is not linked to the agent.' },
  NO_DRAFT_VERSION: { status: 409, message: 'The agent has no draft version. Take it out of the archive first.' },
  OAUTH_NOT_SUPPORTED_VIA_API: { status: 422, message: 'OAuth servers are authorised in the console only.' },
  OPERATION_LIMIT_REACHED: { status: 429, message: 'The workspace has used up its operations of this month.' },
  PACKAGE_NOT_FOUND: { status: 404, message: 'No package with this id exists in the hub.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is over its size limit.' },
  PAYMENT_PROVIDER_ERROR: { status: 502, message: 'The payment provider failed.' },
  PLAN_HAS_SUBSCRIBERS: { status: 409, message: 'The plan has active subscribers.' },
  PLAN_NAME_TAKEN: { status: 409, message: 'Another plan of the hub has this name.' },
  PLAN_NOT_FOUND: { status: 404, message: 'No plan with this id exists in the hub.' },
  PLAN_RULE_VIOLATED: { status: 422, message: 'The plan breaks a rule across its fields.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests with this key. Wait and try again.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  SEATS_LIMIT_REACHED: { status: 409, message: 'The plan does not have that many seats.' },
  SKILL_NAME_TAKEN: { status: 409, message: 'Another skill of the workspace has this name.' },
  SKILL_NOT_FOUND: { status: 404, message: 'No skill with this id exists in the workspace.' },
  SUBDOMAIN_RESERVED: { status: 422, message: 'The subdomain is reserved.' },
  SUBDOMAIN_TAKEN: { status: 409, message: 'Another hub has this subdomain.' },
  SUB_AGENT_CYCLE: { status: 422, message: 'The link would make an agent a sub-agent of itself.' },
  SUB_AGENT_NOT_FOUND: { status: 404, message: 'No agent with the sub-agent id exists in the workspace.' },
  TEMPERATURE_NOT_SUPPORTED: { status: 422, message: 'The model does not accept this temperature.' },
  THINKING_NOT_SUPPORTED: { status: 422, message: 'The model does not support thinking.' },
  TOOLKIT_REGISTRY_UNAVAILABLE: { status: 502, message: 'The toolkit registry cannot be reached.' },
  TRIAL_NOT_ENABLED: { status: 422, message: 'The hub offers no trial.' },
  TRIGGER_NOT_FOUND: { status: 404, message: 'There is no trigger with this slug.' },
  UNAVAILABLE: { status: 503, message: 'The service is not available now. Try again shortly.' },
  UNKNOWN_TOOLKIT: { status: 400, message: 'There is no toolkit with this slug.' },
  UNKNOWN_TRIGGER: { status: 422, message: 'There is no such trigger in the toolkit.' },
  UNSUPPORTED_ATTACHMENT: { status: 422, message: 'An attachment is of a kind that the agent does not accept.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The content type is not accepted here.' },
  USER_NOT_FOUND: { status: 404, message: 'The client has no user with this id.' },
  VALIDATION_ERROR: { status: 400, message: 'The request is not valid. See details.' },
  VARIABLE_DEFAULT_INVALID: { status: 422, message: 'The default value does not fit the type of the variable.' },
  VARIABLE_NAME_TAKEN: { status: 409, message: 'Another variable of the agent has this name.' },
  VARIABLE_NOT_FOUND: { status: 404, message: 'The agent has no variable with this id.' },
  VARIABLE_OPTIONS_INVALID: { status: 422, message: 'The options do not fit the type of the variable.' },
  VERSION_NOT_FOUND: { status: 404, message: 'The agent has no published version of this number.' },
  ZAPI_INSTANCE_ID_ALREADY_USED: { status: 409, message: 'Another connection uses this Z-API instance.' },
};

/** Optional parts of an error. */
export interface FaultOptions {
  details?: ErrorDetail[];
  /** Extra response headers, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** The original error; logged, never shown. */
  cause?: unknown;
}

/** An error that reaches the caller: a code of the contract, its status, and a public sentence. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetail[];
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
  }
}

/** Client errors that the same request may get at one time and not at another. */
const PASSING: ReadonlySet<number> = new Set([401, 408, 429]);

/** Whether the error is kept as the answer to a request with an Idempotency-Key: a retry gets it again. */
export function isFinal({ status }: Pick<ApiError, 'status'>): boolean {
  return status < 500 && !PASSING.has(status);
}

/** Makes the error of a code; `message` replaces the code's own public text where there is more to say. */
export function fault(code: ErrorCode, message: string = ERRORS[code].message, options: FaultOptions = {}): ApiError {
  return new ApiError(code, message, options);
}

/** A 400 for one value of the request, found by a rule that the schema cannot state. `path` begins with `/body` etc. */
export function invalid(path: string, message: string, keyword = 'rule'): ApiError {
  return fault('VALIDATION_ERROR', undefined, { details: [{ path, message, keyword }] });
}
