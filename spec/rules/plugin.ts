import { errorCodes } from './errorCodes.ts';
import { fileName } from './fileName.ts';
import { formParts } from './formParts.ts';
import { idempotencyKey } from './idempotencyKey.ts';
import { listErrorCodes } from './listErrorCodes.ts';
import { namedExamples } from './namedExamples.ts';
import { namedItemEnums } from './namedItemEnums.ts';
import { noBareChoice } from './noBareChoice.ts';
import { noBodyDefault } from './noBodyDefault.ts';
import { noBooleanSchema } from './noBooleanSchema.ts';
import { noPlaceholder } from './noPlaceholder.ts';
import { noUnusedFile } from './noUnusedFile.ts';
import { nullableContainers } from './nullableContainers.ts';
import { numberFormats } from './numberFormats.ts';
import { openLists } from './openLists.ts';
import { operationIdVerb } from './operationIdVerb.ts';
import { operationKeyOrder } from './operationKeyOrder.ts';
import { propertyDescribed } from './propertyDescribed.ts';
import { requestBounds } from './requestBounds.ts';
import { requestClosed } from './requestClosed.ts';
import { requiredStatuses } from './requiredStatuses.ts';
import { responseRequired } from './responseRequired.ts';
import { schemaExtensions } from './schemaExtensions.ts';
import { schemaIdioms } from './schemaIdioms.ts';
import { schemasByField } from './schemasByField.ts';
import { tagGroups } from './tagGroups.ts';
import { validExamples } from './validExamples.ts';

/** The plugin that redocly.yaml loads: the house rules, our keywords of schemas and the bundle's one decorator. */
export default function guildhall() {
  return {
    id: 'guildhall',
    rules: {
      oas3: {
        'error-codes': errorCodes,
        'file-name': fileName,
        'form-parts': formParts,
        'idempotency-key': idempotencyKey,
        'named-examples': namedExamples,
        'named-item-enums': namedItemEnums,
        'no-bare-choice': noBareChoice,
        'no-body-default': noBodyDefault,
        'no-boolean-schema': noBooleanSchema,
        'no-placeholder': noPlaceholder,
        'no-unused-file': noUnusedFile,
        'nullable-containers': nullableContainers,
        'number-formats': numberFormats,
        'open-lists': openLists,
        'operation-id-verb': operationIdVerb,
        'operation-key-order': operationKeyOrder,
        'property-described': propertyDescribed,
        'request-bounds': requestBounds,
        'request-closed': requestClosed,
        'required-statuses': requiredStatuses,
        'response-required': responseRequired,
        'schema-idioms': schemaIdioms,
        'schemas-by-field': schemasByField,
        'tag-groups': tagGroups,
        'valid-examples': validExamples,
      },
    },
    typeExtension: { oas3: schemaExtensions },
    decorators: { oas3: { 'list-error-codes': listErrorCodes } },
  };
}
