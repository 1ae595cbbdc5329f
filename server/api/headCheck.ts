import type { Response } from 'express';
import type { Contract } from './contract/contract.ts';
import type { DocumentedOperation } from './contract/document.ts';

/**
 * Checks the headers of a response against the document, at the moment when they are sent. Throws where they are wrong; the error that is
 * then sent in their place is not checked again. `operationOf` says whose response it is, undefined outside of operations.
 */
export function checkHead(
  response: Response,
  contract: Contract,
  operationOf: () => DocumentedOperation | undefined,
): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => Response;
  response.writeHead = ((...args: unknown[]) => {
    response.writeHead = writeHead as Response['writeHead'];
    const operation = operationOf();
    const wrong = operation && contract.checkHeaders(operation, response.statusCode, response.getHeaders());
    if (wrong) throw new Error(`The headers of ${operation.operationId} break the contract: ${wrong}`);
    return writeHead(...args);
  }) as Response['writeHead'];
}
