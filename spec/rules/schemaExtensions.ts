/** Redocly's description of one kind of node: what its fields are. */
type NodeType = { properties: Record<string, unknown>; required?: string[]; additionalProperties?: unknown };

/**
 * The kinds of node of the document, with the keywords that we add to schemas. Redocly follows references and checks schemas only where
 * it knows that there are some.
 *
 * `x-schemas` stands on an open object and names the schema that the object has for each value of a field. That field, `propertyName`,
 * is one of the object itself or of the object around it. Generators see an open object, which they all can build, and the schemas.
 *
 * `x-max-json-length` is the most characters that a value may have as JSON (`JSON.stringify`).
 */
export function schemaExtensions(types: Record<string, NodeType>): Record<string, NodeType> {
  const { Schema } = types;
  if (!Schema) throw new Error('Redocly knows no schemas');
  return {
    ...types,
    Schema: {
      ...Schema,
      properties: {
        ...Schema.properties,
        'x-schemas': 'SchemasByField',
        'x-max-json-length': { type: 'integer', minimum: 1 },
      },
    },
    SchemasByField: {
      properties: { propertyName: { type: 'string' }, mapping: 'SchemasByFieldMapping' },
      required: ['propertyName', 'mapping'],
    },
    SchemasByFieldMapping: { properties: {}, additionalProperties: 'Schema' },
  };
}
