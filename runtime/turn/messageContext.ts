import { type ApiError, invalid } from '../../core/errors.ts';
import { isDeeperThan } from '../../core/json.ts';

/** What the caller says of the moment of a message: JSON. */
export type MessageContext = Readonly<Record<string, unknown>>;

/** UTF-16 units of JSON. */
const MAX_CONTEXT = 8_000;
const MAX_DEPTH = 8;

/**
 * `metadata.context` of a message; null = there is none. The schema of the request says that it is an object. Throws VALIDATION_ERROR when it
 * has more than 8,000 characters as JSON, or nests more than 8 deep.
 */
export function messageContextOf(metadata: Record<string, unknown> | undefined): MessageContext | null {
  const context = (metadata?.context ?? null) as MessageContext | null;
  if (context === null || Object.keys(context).length === 0) return null;
  const refused = (message: string, keyword: string): ApiError => invalid('/body/metadata/context', message, keyword);
  if (isDeeperThan(context, MAX_DEPTH)) throw refused(`must not nest more than ${MAX_DEPTH} deep`, 'maxDepth');
  if (JSON.stringify(context).length > MAX_CONTEXT) {
    throw refused(`must not have more than ${MAX_CONTEXT} characters as JSON`, 'maxLength');
  }
  return context;
}
