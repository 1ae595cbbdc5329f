import { follow, operationsOf, requestBodyOf, responsesOf } from './contract.ts';
import type { Content, Location, Rule, RuleContext } from './types.ts';

/** Every body and every success response with content has at least one example, in a file named after operation and example. */
export const namedExamples: Rule = () => ({
  PathItem(item, context) {
    for (const operation of operationsOf(item, context)) {
      const operationId = operation.node.operationId ?? '';
      const body = requestBodyOf(operation, context);
      if (body) check(operationId, body.node.content, body.location, context);
      for (const { status, node, location } of responsesOf(operation, context))
        if (status.startsWith('2')) check(operationId, node.content, location, context);
    }
  },
});

function check(operationId: string, content: Content | undefined, location: Location, context: RuleContext): void {
  for (const [type, media] of Object.entries(content ?? {})) {
    const place = location.child(['content', type]);
    const examples = Object.entries(media.examples ?? {});
    if (examples.length === 0)
      context.report({ message: `${operationId}: ${type} has no named example.`, location: place.key() });
    for (const [name, example] of examples) {
      const at = place.child(['examples', name]);
      const target = follow({ node: example, location: at }, context);
      const file = target.location.source.absoluteRef.replaceAll('\\', '/');
      if (file.endsWith(`/examples/${operationId}/${name}.yaml`)) {
        if (target.node.summary && 'value' in target.node) continue;
        context.report({ message: `${operationId}: example ${name} needs a summary and a value.`, location: at });
      } else {
        context.report({
          message: `${operationId}: example ${name} belongs into examples/${operationId}/${name}.yaml.`,
          location: at,
        });
      }
    }
  }
}
