import type { Document, Operation, Parameter, PathItem } from '../../spec/rules/types.ts';

const PATH_ITEMS = '#/components/pathItems/';
const PARAMETERS = '#/components/parameters/';

/**
 * Moves webhooks to `components.pathItems` and refers to them: openapi-generator writes code that does not compile for a webhook with a
 * body that stands in its place. Their parameters are moved into them: openapi-generator knows no parameters yet when it reads the path items
 * of `components`, and takes two references for one parameter that is there twice.
 */
export function hoistWebhooks(document: Document): void {
  const webhooks = Object.entries(document.webhooks ?? {});
  if (webhooks.length === 0) return;
  for (const [, item] of webhooks)
    for (const operation of Object.values(item) as Operation[])
      if (operation.parameters) operation.parameters = operation.parameters.map((each) => inPlace(document, each));
  document.components = { ...document.components, pathItems: Object.fromEntries(webhooks) };
  document.webhooks = Object.fromEntries(webhooks.map(([name]) => [name, { $ref: `${PATH_ITEMS}${name}` }]));
}

function inPlace({ components }: Document, parameter: Parameter): Parameter {
  if (!parameter.$ref?.startsWith(PARAMETERS)) return parameter;
  const found = components?.parameters?.[parameter.$ref.slice(PARAMETERS.length)];
  if (!found) throw new Error(`A parameter of a webhook refers to nothing: ${parameter.$ref}`);
  return structuredClone(found) as Parameter;
}

/** The webhooks of a document by name, whether they stand in their place or are referred to. */
export function webhooksOf({ webhooks = {}, components = {} }: Document): Record<string, PathItem> {
  const pathItems = (components.pathItems ?? {}) as Record<string, PathItem>;
  return Object.fromEntries(
    Object.entries(webhooks).map(([name, item]) => {
      const found = item.$ref?.startsWith(PATH_ITEMS) ? pathItems[item.$ref.slice(PATH_ITEMS.length)] : item;
      if (!found) throw new Error(`The webhook ${name} refers to nothing: ${item.$ref}`);
      return [name, found];
    }),
  );
}

/** The same document with its webhooks in their place. */
export function withInlineWebhooks(document: Document): Document {
  const { pathItems: _hoisted, ...components } = document.components ?? {};
  return { ...document, webhooks: webhooksOf(document), components };
}
