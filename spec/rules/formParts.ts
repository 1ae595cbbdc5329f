import { follow, operationsOf, requestBodyOf } from './contract.ts';
import type { Rule, Schema } from './types.ts';

const FORM = 'multipart/form-data';

/**
 * Generators can upload: a form is the first content of its body, because many take the first and drop the others; each of its parts is a
 * string; a file has `format: binary` beside `contentMediaType`, because most know only the word of OpenAPI 3.0; a part in JSON has
 * its schema in `contentSchema`.
 */
export const formParts: Rule = () => ({
  PathItem(item, context) {
    for (const operation of operationsOf(item, context)) {
      const body = requestBodyOf(operation, context);
      const form = body?.node.content?.[FORM];
      if (!body || !form?.schema) continue;
      const content = body.location.child(['content', FORM]);
      if (Object.keys(body.node.content ?? {})[0] !== FORM)
        context.report({ message: `${FORM} comes first.`, location: content.key() });
      const schema = follow({ node: form.schema, location: content.child('schema') }, context);
      for (const [name, part] of Object.entries(schema.node.properties ?? {})) {
        const at = follow({ node: part, location: schema.location.child(['properties', name]) }, context);
        const lacks = lacking(at.node);
        if (lacks) context.report({ message: `A part of a form ${lacks}.`, location: at.location });
      }
    }
  },
});

function lacking(part: Schema): string | undefined {
  if (part.type !== 'string') return 'is a string; one in JSON has contentMediaType and contentSchema';
  const isJson = part.contentMediaType === 'application/json';
  if (isJson) return part.contentSchema ? undefined : 'in JSON needs contentSchema';
  const isFile = part.contentMediaType !== undefined || part['x-max-bytes'] !== undefined;
  if (isFile && !(part.format === 'binary' && part.contentMediaType))
    return 'that is a file needs `format: binary` and contentMediaType';
  return undefined;
}
