/**
 * The part of Redocly's plugin interface and of the OpenAPI document that the rules use. Redocly CLI ships no types
 * (https://redocly.com/docs/cli/custom-plugins/visitor).
 */
export type Ref = { $ref: string };

/** The schemas that an open object has, by the values of a field: its own, or one of the object around it. */
export type SchemasByField = { propertyName: string; mapping: Record<string, Schema> };

export type Schema = Partial<Ref> & {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  unevaluatedProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  contentSchema?: Schema;
  prefixItems?: Schema[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
  enum?: unknown[];
  const?: unknown;
  'x-schemas'?: SchemasByField;
  [keyword: string]: unknown;
};

export type Example = Partial<Ref> & { summary?: string; value?: unknown };
export type MediaType = {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, Example>;
  encoding?: Record<string, object>;
};
export type Content = Record<string, MediaType>;
export type Response = Partial<Ref> & {
  description?: string;
  headers?: Record<string, object>;
  content?: Content;
  'x-error-codes'?: string[];
};
export type RequestBody = Partial<Ref> & { required?: boolean; content?: Content };
export type Parameter = Partial<Ref> & {
  name: string;
  in: string;
  schema?: Schema;
  examples?: Record<string, Example>;
  [keyword: string]: unknown;
};

export type Operation = {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: RequestBody;
  responses?: Record<string, Response>;
  'x-error-codes'?: Record<string, string[]>;
};

export type PathItem = Partial<Ref> & { parameters?: Parameter[]; [method: string]: unknown };

export type Document = {
  openapi: string;
  servers?: { url: string; variables?: Record<string, { default: string }> }[];
  paths?: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components?: Record<string, Record<string, unknown>>;
  [key: string]: unknown;
};

/** The place of a node: its file, and the JSON Pointer in it. */
export type Location = {
  source: { absoluteRef: string; body: string };
  pointer: string;
  child(keys: (string | number)[] | string | number): Location;
  /** The same place, shown at the key and not at its value. */
  key(): Location;
};

export type RuleContext = {
  report(problem: { message: string; location?: Location | Location[]; suggest?: string[] }): void;
  /** Follows a `$ref` (from the file named, else from the file of the present node); a node without one is returned as it is. */
  resolve<T>(node: T, from?: string): { node?: T; location?: Location };
  location: Location;
  rawLocation: Location;
  key: string | number;
  parent: unknown;
};

type Visit<T> = (node: T, context: RuleContext) => void;
type Hooks<T> = Visit<T> | { enter?: Visit<T>; leave?: Visit<T> };

export type Visitor = {
  Root?: Hooks<Document>;
  PathItem?: Hooks<PathItem>;
  Operation?: Hooks<Operation>;
  Schema?: Hooks<Schema>;
  Example?: Hooks<Example>;
  ref?: Hooks<Ref>;
};

/** A rule: created for each document, with its options from redocly.yaml. */
export type Rule<Options = object> = (options: Options) => Visitor;
