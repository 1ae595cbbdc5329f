import { APICallError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { ApiError, fault } from '../../core/errors.ts';
import type { ModelDescriptor } from './catalogue.ts';
import { ContextTooLong, type WindowExceeded, windowExceeded } from './contextLength.ts';
import { KEY_VARIABLES } from './providers.ts';
import { redact } from './redact.ts';
import type { ModelSettings } from './settings.ts';

/** Where a call failed, for the message. `said` is the text of the prompt, which no message may contain. */
export type FailedCall = {
  settings: ModelSettings;
  model: Pick<ModelDescriptor, 'provider' | 'modelId'>;
  said: readonly string[];
};

/** An answer ended before the provider marked it as complete. */
export class UnfinishedAnswer extends Error {
  constructor() {
    super('The answer ended without a finish.');
    this.name = 'UnfinishedAnswer';
  }
}

/** The provider discarded an answer, because the model wrote a malformed tool call. */
export class MalformedCall extends UnfinishedAnswer {}

/** The window was full before the model had written anything (Anthropic's `model_context_window_exceeded`). */
export class FilledWindow extends UnfinishedAnswer {}

// The address of a compatible server is the operator's, and is not shown to consumers of the API.
const LABELS = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  'openai-compatible': 'The OpenAI-compatible server',
  builtin: 'The built-in model',
} as const;

function labelOf({ model: { provider } }: FailedCall): string {
  return LABELS[provider];
}

const within = (label: string): string => label.replace(/^The /, 'the ');

function secretsOf(settings: ModelSettings): string[] {
  const { openai, anthropic, google, openaiCompatible } = settings;
  return [openai, anthropic, google, openaiCompatible].flatMap((access) => access?.apiKey ?? []);
}

/** The provider's own sentence, safe to show, as `: text` with a full stop, or just a full stop where it gave none. */
function because(call: FailedCall, text: string | undefined): string {
  const safe = redact(text ?? '', secretsOf(call.settings), call.said);
  if (safe === '') return '.';
  return `: ${safe}${/[.!?…]$/.test(safe) ? '' : '.'}`;
}

const isHtml = (text: string | undefined): boolean => text !== undefined && /^\s*</.test(text);

function codeOf(error: unknown): string | undefined {
  for (let inner = error, depth = 0; depth < 5 && inner !== null && typeof inner === 'object'; depth += 1) {
    if ('code' in inner && typeof inner.code === 'string') return inner.code;
    // A connection that was tried over several addresses fails with one error for each address.
    if ('errors' in inner && Array.isArray(inner.errors)) return codeOf(inner.errors[0]);
    inner = 'cause' in inner ? inner.cause : undefined;
  }
  return undefined;
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'its host name cannot be resolved',
  EAI_AGAIN: 'its host name cannot be resolved',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  UND_ERR_CONNECT_TIMEOUT: 'it does not accept the connection',
  ETIMEDOUT: 'it does not accept the connection',
  ECONNRESET: 'it closed the connection without an answer',
  UND_ERR_SOCKET: 'it closed the connection without an answer',
  EPIPE: 'it closed the connection without an answer',
};

// As the bare error of a read, these come after the response's headers.
const CUT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function unreachable(label: string, code: string | undefined): string {
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return `${label} stayed silent for too long.`;
  if (code !== undefined && /CERT|TLS|SSL/.test(code))
    return `${label} could not be reached: its TLS certificate is not trusted.`;
  const why = code === undefined ? undefined : UNREACHABLE[code];
  return `${label} could not be reached${why === undefined ? '' : `: ${why}`}. Check the network and the base URL.`;
}

function refused(call: FailedCall, error: APICallError, status: number): string {
  const label = labelOf(call);
  const variable = KEY_VARIABLES[call.model.provider];
  const text = isHtml(error.responseBody) ? 'it sent a web page instead of JSON' : error.message;
  const why = because(call, text);
  const model = call.model.modelId;
  // Google returns 400 for a wrong key.
  const wrongKey = status === 401 || (status === 400 && /api key not valid|api_key_invalid/i.test(error.message));
  if (wrongKey) return `${label} refused the API key (${status}). Check ${variable}.`;
  if (status === 402) return `${label} wants payment (402)${why} Check the account's billing.`;
  if (status === 403) return `${label} forbids this (403)${why} Check what ${variable} may use.`;
  if (status === 404) return `${label} does not know the model ${model}, or its base URL is wrong (404)${why}`;
  if (status === 413) return `${label} finds the request too large (413). Send fewer or smaller attachments.`;
  if (status === 429) {
    return /quota|billing|credit|insufficient/i.test(error.message)
      ? `${label} reports a used-up quota (429)${why} Check the account's plan and billing.`
      : `${label} limits the rate of requests (429)${why} Try again later.`;
  }
  if (status >= 500) return `${label} failed (${status})${why} Try again later.`;
  return `${label} rejected the request (${status})${why}`;
}

const cutOff = (label: string): string =>
  `The connection to ${within(label)} was cut in the middle of the answer. Try again.`;

const unfinished = (label: string): string => `${label} ended its answer before it was complete. Try again.`;

function explain(error: unknown, call: FailedCall): string {
  const label = labelOf(call);
  if (error instanceof UnfinishedAnswer) return unfinished(label);
  if (APICallError.isInstance(error)) {
    const { statusCode } = error;
    if (statusCode === undefined) return unreachable(label, codeOf(error));
    // Status 200 with a cause: the headers arrived, then the connection broke.
    if (statusCode >= 400 || (statusCode >= 300 && statusCode < 400)) return refused(call, error, statusCode);
    return codeOf(error.cause) !== undefined || /terminated|aborted|other side closed/.test(String(error.cause))
      ? cutOff(label)
      : `${label} sent an answer that cannot be understood. Check the base URL.`;
  }
  const code = codeOf(error);
  if (code !== undefined && CUT.has(code)) return cutOff(label);
  if (code !== undefined && (code in UNREACHABLE || code.startsWith('UND_ERR'))) return unreachable(label, code);
  const name = error instanceof Error || (error !== null && typeof error === 'object') ? nameOf(error) : '';
  // The chat completions reader throws this one where the others report an interruption.
  if (name === 'AI_InvalidResponseDataError' && /finish/.test(messageOf(error))) return unfinished(label);
  if (/JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContent/.test(name)) {
    return `${label} sent an answer that cannot be understood. Check the base URL.`;
  }
  return `${label} reported an error while it answered${because(call, messageOf(error))}`;
}

const nameOf = (error: object): string => ('name' in error && typeof error.name === 'string' ? error.name : '');

/** The sentence in an error part of a stream, which may be an Error, a provider's JSON, or text. */
function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (error === null || typeof error !== 'object') return '';
  if ('error' in error && !('message' in error)) return messageOf(error.error);
  return 'message' in error && typeof error.message === 'string' ? error.message : '';
}

/**
 * Converts any error of a model call to a fault for people: MODEL_PROVIDER_ERROR with one sentence on who failed, why, and what to
 * do, or UNSUPPORTED_ATTACHMENT for a file that the provider's package does not send. Contains no key, no prompt and no request. The
 * original error contains all three, so it is not kept as the cause.
 */
export function modelFault(error: unknown, call: FailedCall): ApiError {
  if (error instanceof ApiError) return error;
  if (UnsupportedFunctionalityError.isInstance(error) && /media type|file|image/i.test(error.functionality)) {
    return fault(
      'UNSUPPORTED_ATTACHMENT',
      `${labelOf(call)} cannot take one of the attachments: ${error.functionality}.`,
    );
  }
  const exceeded = error instanceof FilledWindow ? { isCertain: true } : windowExceeded(error, call.said);
  if (exceeded) return new ContextTooLong(tooLong(error, exceeded, call), exceeded);
  return fault('MODEL_PROVIDER_ERROR', explain(error, call));
}

/** Whether a request may have failed because of the files in it, as a server says that takes none, or not these. */
export function mayRefuseFiles(error: unknown, { provider }: Pick<ModelDescriptor, 'provider'>): boolean {
  if (UnsupportedFunctionalityError.isInstance(error)) return true;
  if (!APICallError.isInstance(error)) return false;
  const { statusCode = 0 } = error;
  // llama.cpp answers 500 for a model without a projector.
  return [400, 413, 415, 422].includes(statusCode) || (statusCode === 500 && provider === 'openai-compatible');
}

/** A request that is too long, and what helps. */
function tooLong(error: unknown, { limit }: WindowExceeded, call: FailedCall): string {
  const label = labelOf(call);
  const { provider, modelId } = call.model;
  if (limit === undefined && APICallError.isInstance(error) && error.statusCode === 413) {
    return `${label} finds the request too large (413). Send fewer or smaller attachments, or a shorter message.`;
  }
  const window = limit === undefined ? '' : ` of ${limit.toLocaleString('en-US')} tokens`;
  const remedy = 'Shorten the prompt of the agent or the message, or link fewer tools.';
  const setting =
    provider === 'openai-compatible'
      ? ` If the window is not what the server has, set OPENAI_COMPATIBLE_MODELS to ${modelId}@${limit ?? '<tokens>'}.`
      : '';
  return `${label} finds the request longer than the context window${window} of ${modelId}. ${remedy}${setting}`;
}

/**
 * Whether a retry of the same request can help: no response, an invalid one, a rate limit, or a failure on the provider's side. One that is
 * too long stays too long, also where the server calls it a failure of its own (llama.cpp).
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof MalformedCall) return true;
  if (APICallError.isInstance(error) && windowExceeded(error, []) !== undefined) return false;
  if (APICallError.isInstance(error)) {
    const { statusCode } = error;
    if (statusCode === 429) return !/quota|billing|credit|insufficient/i.test(error.message);
    if (statusCode === undefined) return codeOf(error) !== undefined;
    return statusCode >= 500 || statusCode === 408;
  }
  const code = codeOf(error);
  return code !== undefined && code in UNREACHABLE;
}
