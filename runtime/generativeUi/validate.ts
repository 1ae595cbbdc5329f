import type { ErrorObject, ValidateFunction } from 'ajv';
import { createRequestAjv } from '../../core/ajv.ts';
import { isDeeperThan } from '../../core/json.ts';
import { toStorable } from '../../core/text.ts';
import { decisionIn } from '../turn/decisionWords.ts';
import { ADDRESS_FIELD, COMPONENT_TYPES, closedSchemas, isHttpsAddress } from './schema.ts';

/** Levels of components in a tree. */
export const MAX_UI_DEPTH = 8;
/** Components in a tree. */
export const MAX_UI_NODES = 200;
/** Bytes of a tree as JSON. */
export const MAX_UI_BYTES = 65_536;
/** Levels of objects and lists in a tree of MAX_UI_DEPTH: two for each component, four in a chart. */
const MAX_LEVELS = 2 * MAX_UI_DEPTH + 4;
/** Problems that are reported at once: the others often follow from them. */
const MAX_PROBLEMS = 5;

const NO_ADDRESS = 'must be an address that begins with https://, without credentials or spaces';

/** A tree that can be shown and stored, or the problems of the input, each with its place. */
export type CheckedUi = { ui: Record<string, unknown> } | { problems: string[] };

let validate: ValidateFunction | undefined;

function validator(): ValidateFunction {
  if (!validate) {
    const ajv = createRequestAjv({ discriminator: true, ownProperties: true, verbose: true });
    ajv.addSchema({ components: { schemas: closedSchemas() } }, 'document');
    validate = ajv.compile({ $ref: 'document#/components/schemas/MessageUi' });
  }
  return validate;
}

/** Checks a tree of components. Returns a copy without characters that PostgreSQL cannot store. */
export function checkUi(given: unknown): CheckedUi {
  if (isDeeperThan(given, MAX_LEVELS)) return { problems: [`ui nests too deeply: at most ${MAX_UI_DEPTH} components`] };
  const ui = cleaned(given) as Record<string, unknown>;
  // Before the validator: the number of its errors grows with the tree.
  const bytes = Buffer.byteLength(JSON.stringify(ui) ?? '');
  if (bytes > MAX_UI_BYTES) return { problems: [`ui has ${bytes} bytes as JSON: at most ${MAX_UI_BYTES}`] };
  const check = validator();
  if (!check(ui)) return { problems: problemsOf(check.errors ?? []) };
  const { depth, nodes } = sizeOf(ui, 1);
  const problems = [
    ...(depth > MAX_UI_DEPTH ? [`ui has ${depth} components above one another: at most ${MAX_UI_DEPTH}`] : []),
    ...(nodes > MAX_UI_NODES ? [`ui has ${nodes} components: at most ${MAX_UI_NODES}`] : []),
    ...mismatches(ui, 'ui'),
  ];
  return problems.length > 0 ? { problems: problems.slice(0, MAX_PROBLEMS) } : { ui };
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return toStorable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cleaned);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleaned(inner)]));
}

type Node = Record<string, unknown>;

function childrenOf({ children }: Node): Node[] {
  return (children ?? []) as Node[];
}

function sizeOf(node: Node, depth: number): { depth: number; nodes: number } {
  const below = childrenOf(node).map((child) => sizeOf(child, depth + 1));
  return {
    depth: Math.max(depth, ...below.map((one) => one.depth)),
    nodes: below.reduce((sum, one) => sum + one.nodes, 1),
  };
}

/**
 * Checks the rules that JSON Schema cannot express: addresses are https, rows have a cell for each column, only a select has options, names
 * of inputs are unique, and no button sends a decision on an approval. A model that was tricked could put any label on such a button.
 */
function mismatches(node: Node, path: string): string[] {
  const found = childrenOf(node).flatMap((child, index) => mismatches(child, `${path}.children[${index}]`));
  const address = node[ADDRESS_FIELD];
  if (typeof address === 'string' && !isHttpsAddress(address)) found.push(`${path}.${ADDRESS_FIELD} ${NO_ADDRESS}`);
  if (node.type === 'table') {
    const columns = (node.columns as unknown[]).length;
    (node.rows as unknown[][]).forEach((row, index) => {
      if (row.length !== columns) found.push(`${path}.rows[${index}] must have ${columns} cells, one for each column`);
    });
  }
  if (node.type === 'button' && decisionIn(String(node.message ?? '')) !== null) {
    found.push(
      `${path}.message must not be a decision on an approval, such as “approve” or “yes” alone: people write that themselves. Say what is meant`,
    );
  }
  if (node.type === 'form') {
    const names = new Set<unknown>();
    (node.inputs as Node[]).forEach(({ name, kind, options }, index) => {
      const here = `${path}.inputs[${index}]`;
      if (kind === 'select' && options === undefined) found.push(`${here}.options is required for kind select`);
      if (kind !== 'select' && options !== undefined) found.push(`${here}.options is for kind select only`);
      if (names.has(name)) found.push(`${here}.name is that of another input`);
      names.add(name);
    });
  }
  return found;
}

function problemsOf(errors: readonly ErrorObject[]): string[] {
  const problems = new Set(errors.flatMap((error) => problemOf(error) ?? []));
  const rest = problems.size - MAX_PROBLEMS;
  return [...[...problems].slice(0, MAX_PROBLEMS), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

/** An error as a sentence for the model; undefined when another error at the same place says more. */
function problemOf({ instancePath, keyword, params, message, schema, parentSchema }: ErrorObject): string | undefined {
  const path = placeOf(instancePath);
  const types = COMPONENT_TYPES.join(', ');
  switch (keyword) {
    case 'discriminator': {
      const { tagValue } = params as { tagValue: unknown };
      if (typeof tagValue === 'string') {
        return `${path}.type: there is no component "${tagValue.slice(0, 50)}"; there are ${types}`;
      }
      return `${path}.type must be one of ${types}`;
    }
    case 'required': {
      // Reported by `if` of the button and by `discriminator`.
      if (isCondition(parentSchema) || params.missingProperty === 'type') return undefined;
      return `${path}.${params.missingProperty} is required`;
    }
    case 'additionalProperties': {
      const known = Object.keys(parentSchema?.properties ?? {});
      return `${path} has no field "${String(params.additionalProperty).slice(0, 50)}"; it has ${known.join(', ')}`;
    }
    case 'minLength':
      return `${path} must not be empty`;
    case 'maxLength':
      return `${path} must not have more than ${params.limit} characters`;
    case 'if':
      return `${path} must have either message or url`;
    case 'not': {
      const { type } = schema as { type?: string[] };
      // Without a type it is in the condition of the button.
      if (type === undefined) return undefined;
      return `${path} must be text or a number${type.includes('boolean') ? '' : ', true, false or null'}`;
    }
    case 'enum':
      return `${path} must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'pattern':
      return instancePath.endsWith(`/${ADDRESS_FIELD}`) ? `${path} ${NO_ADDRESS}` : `${path} ${message}`;
    case 'type':
      return `${path} must be ${String(params.type).replace('object', 'an object').replace('array', 'a list')}`;
    default:
      return `${path} ${message}`;
  }
}

/** Whether a schema is `then` or `else` of the button. */
function isCondition(schema: unknown): boolean {
  return !Object.hasOwn(schema as object, 'type');
}

/** A JSON Pointer as a path of JavaScript: `/children/0/text` is `ui.children[0].text`. */
function placeOf(pointer: string): string {
  return `ui${pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')}`;
}
