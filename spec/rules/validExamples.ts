import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import {
  follow,
  operationsOf,
  type Placed,
  requestBodyOf,
  requestSchemas,
  responseSchemas,
  responsesOf,
  walkSchema,
} from './contract.ts';
import type { Content, Example, Location, Rule, RuleContext, Schema, SchemasByField } from './types.ts';

/**
 * Every example is valid: named ones against the schema of their media type or parameter, and a schema's own `examples` and
 * `default` against that schema. An open object must fit the schema that it names (`x-schemas`). With Ajv 2020 and formats, because Redocly's own rule does not check formats.
 */
export const validExamples: Rule = () => {
  const validator = fileValidator();
  const seen = new Set<Schema>();
  const check = (value: unknown, schema: Location, at: Location, what: string, context: RuleContext) => {
    for (const fault of validator(value, schema))
      context.report({ message: `${what} is not valid: ${fault}.`, location: at });
  };
  const checkNamed = (examples: Record<string, Example> = {}, schema: Location, at: Location, context: RuleContext) => {
    for (const [name, example] of Object.entries(examples)) {
      const target: Placed<Example> = follow({ node: example, location: at.child(['examples', name]) }, context);
      if ('value' in target.node)
        check(target.node.value, schema, target.location.child('value'), `Example ${name}`, context);
    }
  };
  const checkContent = (content: Content | undefined, at: Location, context: RuleContext) => {
    for (const [type, media] of Object.entries(content ?? {})) {
      const place = at.child(['content', type]);
      if (media.schema) checkNamed(media.examples, place.child('schema'), place, context);
    }
  };
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context)) {
        for (const { node, location } of operation.parameters)
          if (node.schema) checkNamed(node.examples, location.child('schema'), location, context);
        for (const part of [requestBodyOf(operation, context), ...responsesOf(operation, context)])
          if (part) checkContent(part.node.content, part.location, context);
        for (const schema of [...requestSchemas(operation, context), ...responseSchemas(operation, context)])
          walkSchema(schema, context, seen, ({ node, location }) => {
            if (Array.isArray(node.examples))
              for (const [index, value] of node.examples.entries())
                check(value, location, location.child(['examples', index]), 'Example', context);
            if ('default' in node) check(node.default, location, location.child('default'), 'Default', context);
          });
      }
    },
  };
};

/** Validates values against a schema at a place in a file. Files are read when a schema refers to them. */
function fileValidator(): (value: unknown, schema: Location) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addKeyword(namedSchemas(ajv));
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file) || !existsSync(file)) return;
    loaded.add(file);
    const content = parse(readFileSync(file, 'utf8'));
    // With an id, so that references in the file are resolved from its path.
    ajv.addSchema({ ...content, $id: pathToFileURL(file).href });
    for (const reference of referencesIn(content)) load(resolve(file, '..', reference));
  };
  return (value, { source, pointer }) => {
    load(source.absoluteRef);
    const $ref = `${pathToFileURL(source.absoluteRef).href}${encodeURI(pointer.replace(/\/$/, ''))}`;
    try {
      const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref });
      return validate(value) ? [] : (validate.errors ?? []).map(describe);
    } catch (error) {
      // Redocly's no-unresolved-refs names what is missing, and where.
      if (error instanceof Ajv2020.MissingRefError) return [];
      throw error;
    }
  };
}

/**
 * `x-schemas`: the object must fit the schema of its kind. An object whose kind the example does not say, such as that of a PATCH
 * body, must fit any of them.
 */
function namedSchemas(ajv: Ajv2020): FuncKeywordDefinition {
  return {
    keyword: 'x-schemas',
    type: 'object',
    errors: 'full',
    compile({ propertyName, mapping }: SchemasByField, _parent, { baseId }) {
      const references = new Map(
        Object.entries(mapping).map(([kind, { $ref }]) => [kind, new URL(String($ref), baseId).href] as const),
      );
      const check: SchemaValidateFunction = (value: Record<string, unknown>, at) => {
        const kind = value[propertyName] ?? (at?.parentData as Record<string, unknown> | undefined)?.[propertyName];
        const reference = references.get(String(kind));
        const candidates = reference === undefined ? [...references.values()] : [reference];
        const faults = candidates.map((each) => {
          const validate = ajv.getSchema(each) ?? ajv.compile({ $ref: each });
          return validate(value) ? [] : (validate.errors ?? []);
        });
        if (faults.some((each) => each.length === 0)) return true;
        check.errors = faults.flat().map((each) => ({ ...each, instancePath: at?.instancePath + each.instancePath }));
        return false;
      };
      return check;
    },
  };
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const extra = Object.values(params).filter((value) => typeof value === 'string' && !message?.includes(value));
  return `${instancePath || 'it'} ${message}${extra.length > 0 ? ` (${extra.join(', ')})` : ''}`;
}

function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key !== '$ref' || typeof value !== 'string') return referencesIn(value);
    const file = value.split('#')[0];
    return file ? [file] : [];
  });
}
