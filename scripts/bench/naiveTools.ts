import type { Document, MediaType, Operation, Parameter, RequestBody } from '../../spec/rules/types.ts';

/**
 * The tools that a simple generator makes of the document: summary and description, parameters with theirs, the body with every reference
 * written out. They are what generated/tools.json is compared with, and serve nothing else.
 */
export function naiveTools(document: Document): { name: string; description: string; inputSchema: object }[] {
  const whole = (node: unknown, above: readonly string[] = []): unknown => {
    if (Array.isArray(node)) return node.map((each) => whole(each, above));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...rest } = node as { $ref?: string };
    const own = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, whole(each, above)]));
    if ($ref === undefined) return own;
    if (above.includes($ref)) return {};
    const [, , kind = '', name = ''] = $ref.split('/');
    return { ...(whole(document.components?.[kind]?.[name], [...above, $ref]) as object), ...own };
  };
  return Object.values(document.paths ?? {}).flatMap((item) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([, given]) => {
        const operation = given as Operation;
        const properties: Record<string, unknown> = {};
        const required: string[] = [];
        for (const each of (operation.parameters ?? []).map((parameter) => whole(parameter) as Parameter)) {
          properties[each.name] = { ...each.schema, description: each.description };
          if (each.required) required.push(each.name);
        }
        const body = (operation as { requestBody?: RequestBody }).requestBody;
        const content: Record<string, MediaType> = (whole(body) as RequestBody | undefined)?.content ?? {};
        const schema = (content['application/json'] ?? Object.values(content)[0])?.schema;
        if (schema) properties.body = schema;
        if (schema && body?.required) required.push('body');
        return {
          name: operation.operationId ?? '',
          description: `${operation.summary}. ${operation.description}`,
          inputSchema: { type: 'object', properties, required },
        };
      }),
  );
}
