import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { fileSchema, propertySchema, requestSchema } from '../../../../clients/code/schemas/requestSchemas.ts';
import generated from '../../../../generated/requestSchemas.json' with { type: 'json' };
import { requestSchemasJson } from '../../../../scripts/codegen/requestSchemas.ts';

const ajv = formats.default(new Ajv2020({ strict: false }));

describe('the schemas of requests', () => {
  test('stand alone, and validators take them', () => {
    expect(JSON.stringify(generated)).not.toContain('"$ref"');
    expect(JSON.stringify(generated)).not.toContain('"x-');
    for (const schema of Object.values(generated)) expect(ajv.validateSchema(schema)).toBe(true);
  });

  test('have the configurations of tools, which the document names beside the body', () => {
    expect(requestSchema('DatabaseQueryConfiguration').required).toEqual(['connection', 'query']);
    expect(requestSchema('KnowledgeSourceMetadata').properties).toHaveProperty('name');
  });

  test('a schema that contains itself is refused by name', () => {
    const schemas = { Tree: { properties: { child: { $ref: '#/components/schemas/Tree' } } } };
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } };
    const post = { operationId: 'plant', requestBody: { content }, responses: {} };
    const document = { openapi: '3.1.1', paths: { '/trees': { post } }, components: { schemas } };
    expect(() => requestSchemasJson(document as never)).toThrow('Tree: contains itself');
  });

  test('a caller may change what it gets', () => {
    requestSchema('PlanCreate').type = 'changed';
    expect(requestSchema('PlanCreate').type).toBe('object');
    expect(() => propertySchema('PlanCreate', 'colour')).toThrow('PlanCreate has no property colour');
  });
});

describe('the schema of a file', () => {
  test('takes the fields of the requests, without those that files lack and with their own', () => {
    const schema = fileSchema(['CouponCreate', 'CouponUpdate'], {
      omit: ['code', 'applicablePlanIds'],
      properties: { plans: { type: 'array', items: { type: 'string' } } },
      required: ['plans'],
    });
    expect(schema.required).toEqual(['discountType', 'discountValue', 'duration', 'scope', 'plans']);
    const validate = ajv.compile(schema);
    const coupon = { discountType: 'percentage', discountValue: 10, duration: 'once', scope: 'hub', plans: [] };
    expect(validate({ ...coupon, active: false })).toBe(true);
    expect(validate({ ...coupon, code: 'A' })).toBe(false);
    expect(validate({ ...coupon, discountValue: 0 })).toBe(false);
  });
});
