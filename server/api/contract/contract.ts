import { type OpenApiDocument, readDocument } from '../../../core/document.ts';
import type { Handlers } from '../../../handlers/handler.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import type { DocumentedOperation } from './document.ts';
import { createMatcher, type Match } from './matcher.ts';
import { createResponseCheck, type ResponseCheck } from './responseCheck.ts';

/** The document at work: it routes, validates and dispatches requests, and checks responses. */
export interface Contract extends Dispatcher, ResponseCheck {
  /** Finds the operation of a method and path. Throws NOT_FOUND, METHOD_NOT_ALLOWED or VALIDATION_ERROR. */
  match(method: string, path: string): Match<DocumentedOperation>;
}

/**
 * Starts the contract from the bundled document, with these handlers. Throws when a reference in the document leads nowhere. Where responses
 * are not checked, they are left out: they are the larger part of the document, and a third of the time that it takes to start.
 */
export async function createContract(handlers: Handlers, { checksResponses = true } = {}): Promise<Contract> {
  const document = readDocument();
  const dispatcher = await createDispatcher(checksResponses ? document : withoutResponses(document), handlers);
  return { ...dispatcher, ...createResponseCheck(), match: createMatcher(dispatcher.operations) };
}

function withoutResponses({ paths, webhooks: _, components, ...document }: OpenApiDocument): OpenApiDocument {
  const unused = ['responses', 'headers', 'examples', 'pathItems'];
  const kept = Object.entries(components).filter(([kind]) => !unused.includes(kind));
  const operations = mapValues(paths as Record<string, Record<string, object>>, (methods) =>
    mapValues(methods, (operation) => ('responses' in operation ? { ...operation, responses: {} } : operation)),
  );
  return { ...document, paths: operations, components: { ...Object.fromEntries(kept), schemas: components.schemas } };
}

function mapValues<From, To>(values: Record<string, From>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
}
