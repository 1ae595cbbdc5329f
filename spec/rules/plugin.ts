import { errorCodes } from './error-codes.ts';
import { fileName } from './file-name.ts';
import { listErrorCodes } from './list-error-codes.ts';
import { namedExamples } from './named-examples.ts';
import { noUnusedFile } from './no-unused-file.ts';
import { operationIdVerb } from './operation-id-verb.ts';
import { operationKeyOrder } from './operation-key-order.ts';
import { propertyDescribed } from './property-described.ts';
import { requestBounds } from './request-bounds.ts';
import { requestClosed } from './request-closed.ts';
import { requiredStatuses } from './required-statuses.ts';
import { responseRequired } from './response-required.ts';
import { schemaIdioms } from './schema-idioms.ts';
import { validExamples } from './valid-examples.ts';

/** The plugin that redocly.yaml loads: the house rules and the bundle's one decorator. */
export default function guildhall() {
  return {
    id: 'guildhall',
    rules: {
      oas3: {
        'error-codes': errorCodes,
        'file-name': fileName,
        'named-examples': namedExamples,
        'no-unused-file': noUnusedFile,
        'operation-id-verb': operationIdVerb,
        'operation-key-order': operationKeyOrder,
        'property-described': propertyDescribed,
        'request-bounds': requestBounds,
        'request-closed': requestClosed,
        'required-statuses': requiredStatuses,
        'response-required': responseRequired,
        'schema-idioms': schemaIdioms,
        'valid-examples': validExamples,
      },
    },
    decorators: { oas3: { 'list-error-codes': listErrorCodes } },
  };
}
