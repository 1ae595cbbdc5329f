import { readDocument } from '../../../core/document.ts';
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

/** Starts the contract from the bundled document, with these handlers. Throws when a reference in the document leads nowhere. */
export async function createContract(handlers: Handlers): Promise<Contract> {
  const document = readDocument();
  const dispatcher = await createDispatcher(document, handlers);
  return { ...dispatcher, ...createResponseCheck(), match: createMatcher(dispatcher.operations) };
}
